package io.softdpu.core.memory.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/**
 * Access flags in an export blob: one bit each, those of DOCA. Any thread; allocates nothing but
 * messages.
 */
public final class AccessBits {
    /** Devices of the exporting machine may read and write; read-only access has no bit. */
    public static final int LOCAL_READ_WRITE = 1;

    /** An RDMA peer may read. */
    public static final int RDMA_READ = 1 << 1;

    /** An RDMA peer may write. */
    public static final int RDMA_WRITE = 1 << 2;

    /** An RDMA peer may do atomic operations. */
    public static final int RDMA_ATOMIC = 1 << 3;

    /** The other side of the PCIe bus may read. */
    public static final int PCI_READ_ONLY = 1 << 4;

    /** The other side of the PCIe bus may read and write. */
    public static final int PCI_READ_WRITE = 1 << 5;

    /** Accesses over the PCIe bus may be reordered. */
    public static final int PCI_RELAXED_ORDERING = 1 << 6;

    /** The rights of the other side of the PCIe bus. */
    public static final int PCI = PCI_READ_ONLY | PCI_READ_WRITE;

    /** The rights of RDMA peers. */
    public static final int RDMA = RDMA_READ | RDMA_WRITE | RDMA_ATOMIC;

    private static final String[] NAMES = {
        "LOCAL_READ_WRITE",
        "RDMA_READ",
        "RDMA_WRITE",
        "RDMA_ATOMIC",
        "PCI_READ_ONLY",
        "PCI_READ_WRITE",
        "PCI_RELAXED_ORDERING"
    };

    private static final int ALL = (1 << NAMES.length) - 1;

    private AccessBits() {}

    /**
     * Refuses inconsistent flags.
     *
     * @return the flags
     * @throws DpuException INVALID_VALUE if a bit is unknown, both rights of the PCIe bus are set,
     *     or the ordering is set without one of them
     */
    public static int requireLegal(int bits) {
        if ((bits & ~ALL) != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, Text.format("unknown access flags: bits=%#x", bits));
        }
        if ((bits & PCI) == PCI) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "access flags exclude each other: flags=[PCI_READ_ONLY, PCI_READ_WRITE]");
        }
        if ((bits & PCI_RELAXED_ORDERING) != 0 && (bits & PCI) == 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "access flag needs another: flag=PCI_RELAXED_ORDERING,"
                            + " oneOf=[PCI_READ_ONLY, PCI_READ_WRITE]");
        }
        return bits;
    }

    /** The names of the flags, for messages: {@code [LOCAL_READ_ONLY, RDMA_READ]}. */
    public static String describe(int bits) {
        String names = names(bits);
        if ((bits & LOCAL_READ_WRITE) == 0) {
            names = names.isEmpty() ? "LOCAL_READ_ONLY" : "LOCAL_READ_ONLY, " + names;
        }
        return "[" + names + "]";
    }

    /** The names of these bits alone: {@code RDMA_READ, RDMA_WRITE}; empty for none. */
    public static String names(int bits) {
        StringBuilder names = new StringBuilder();
        for (int bit = 0; bit < NAMES.length; bit++) {
            if ((bits & (1 << bit)) != 0) {
                names.append(names.isEmpty() ? "" : ", ").append(NAMES[bit]);
            }
        }
        return names.toString();
    }
}
