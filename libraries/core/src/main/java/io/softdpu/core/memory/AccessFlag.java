package io.softdpu.core.memory;

import io.softdpu.core.memory.wire.AccessBits;

/**
 * Access rights to the memory of an mmap, one bit each (Core guide, section 3.1.2 and the flags
 * that later releases added). {@code PCI_*} are {@code DPU_*} in the guide.
 */
public enum AccessFlag {
    /** Devices of this machine may read. Has no bit: always granted. */
    LOCAL_READ_ONLY(0),
    /** Devices of this machine may read and write. */
    LOCAL_READ_WRITE(AccessBits.LOCAL_READ_WRITE),
    /** An RDMA peer may read. */
    RDMA_READ(AccessBits.RDMA_READ),
    /** An RDMA peer may write. */
    RDMA_WRITE(AccessBits.RDMA_WRITE),
    /** An RDMA peer may do atomic operations. */
    RDMA_ATOMIC(AccessBits.RDMA_ATOMIC),
    /** The other side of the PCIe bus may read. */
    PCI_READ_ONLY(AccessBits.PCI_READ_ONLY),
    /** The other side of the PCIe bus may read and write; excludes {@link #PCI_READ_ONLY}. */
    PCI_READ_WRITE(AccessBits.PCI_READ_WRITE),
    /** Accesses over the PCIe bus may be reordered; only together with one of the two above. */
    PCI_RELAXED_ORDERING(AccessBits.PCI_RELAXED_ORDERING);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** The DOCA number of the flag: one bit, or 0 for {@link #LOCAL_READ_ONLY}. */
    public int bit() {
        return bit;
    }
}
