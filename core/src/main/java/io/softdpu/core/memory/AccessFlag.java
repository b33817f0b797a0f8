package io.softdpu.core.memory;

/**
 * What may be done with the memory of an mmap, and by whom; one bit each (Core guide, section 3.1.2
 * and the flags that later releases added). {@code PCI_*} is what the guide calls {@code DPU_*}.
 */
public enum AccessFlag {
    /** Devices of this machine may read. It is the absence of a bit: it always holds. */
    LOCAL_READ_ONLY(0),
    /** Devices of this machine may read and write. */
    LOCAL_READ_WRITE(1),
    /** An RDMA peer may read. */
    RDMA_READ(1 << 1),
    /** An RDMA peer may write. */
    RDMA_WRITE(1 << 2),
    /** An RDMA peer may do atomic operations. */
    RDMA_ATOMIC(1 << 3),
    /** The other side of the PCIe bus may read. */
    PCI_READ_ONLY(1 << 4),
    /** The other side of the PCIe bus may read and write; excludes {@link #PCI_READ_ONLY}. */
    PCI_READ_WRITE(1 << 5),
    /** Accesses over the PCIe bus may be reordered; only together with one of the two above. */
    PCI_RELAXED_ORDERING(1 << 6);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** The DOCA number of the flag: one bit, or 0 for {@link #LOCAL_READ_ONLY}. */
    public int bit() {
        return bit;
    }
}
