package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import java.util.ArrayList;
import java.util.List;

/**
 * A set of {@link AccessFlag}s that fit together.
 *
 * <p>{@code PCI_READ_ONLY} and {@code PCI_READ_WRITE} exclude each other, and {@code
 * PCI_RELAXED_ORDERING} needs one of them. A value; any thread.
 *
 * @param bits the flags' numbers, added up
 */
public record Permissions(int bits) {
    private static final int ALL = 0x7f;
    private static final int PCI_READ_ONLY = AccessFlag.PCI_READ_ONLY.bit();
    private static final int PCI_READ_WRITE = AccessFlag.PCI_READ_WRITE.bit();
    private static final int PCI_RELAXED_ORDERING = AccessFlag.PCI_RELAXED_ORDERING.bit();
    private static final int PCI = PCI_READ_ONLY | PCI_READ_WRITE;
    private static final int RDMA_WRITES =
            AccessFlag.RDMA_WRITE.bit() | AccessFlag.RDMA_ATOMIC.bit();
    private static final int RDMA = AccessFlag.RDMA_READ.bit() | RDMA_WRITES;

    // Behind the numbers above, which their constructor looks at.

    /** Only reading, and only by devices of this machine. */
    public static final Permissions LOCAL_READ_ONLY = of(AccessFlag.LOCAL_READ_ONLY);

    /** Reading and writing, only by devices of this machine. */
    public static final Permissions LOCAL_READ_WRITE = of(AccessFlag.LOCAL_READ_WRITE);

    /**
     * Checks that the flags fit together.
     *
     * @throws DpuException INVALID_VALUE if they do not, or a bit is unknown
     */
    public Permissions {
        if ((bits & ~ALL) != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "unknown access flags: bits=%#x".formatted(bits));
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
    }

    /**
     * The set of these flags.
     *
     * @throws DpuException INVALID_VALUE if they do not fit together
     */
    public static Permissions of(AccessFlag... flags) {
        int bits = 0;
        for (AccessFlag flag : Arguments.notNull(flags, "flags")) {
            bits |= Arguments.notNull(flag, "flags").bit();
        }
        return new Permissions(bits);
    }

    /**
     * Whether this flag is in the set. {@link AccessFlag#LOCAL_READ_ONLY} always is: it has no bit.
     */
    public boolean has(AccessFlag flag) {
        Arguments.notNull(flag, "flag");
        return (bits & flag.bit()) == flag.bit();
    }

    /**
     * Whether all that {@code needed} asks for is granted here. Reading over PCIe is granted by
     * {@link AccessFlag#PCI_READ_WRITE} as well, and the ordering is no right that one could lack.
     * No allocation: made for the data path.
     */
    public boolean grants(Permissions needed) {
        Arguments.notNull(needed, "needed");
        int have = (bits & PCI_READ_WRITE) == 0 ? bits : bits | PCI_READ_ONLY;
        return (needed.bits & ~PCI_RELAXED_ORDERING & ~have) == 0;
    }

    /** Whether the other side of the PCIe bus may do anything with the memory. */
    public boolean allowsPci() {
        return (bits & PCI) != 0;
    }

    /** Whether an RDMA peer may do anything with the memory. */
    public boolean allowsRdma() {
        return (bits & RDMA) != 0;
    }

    /** Whether the other side of the PCIe bus may change the memory. */
    public boolean allowsPciWrite() {
        return (bits & PCI_READ_WRITE) != 0;
    }

    /** Whether an RDMA peer may change the memory. */
    public boolean allowsRdmaWrite() {
        return (bits & RDMA_WRITES) != 0;
    }

    /** Whether devices of this machine may change the memory. */
    public boolean allowsLocalWrite() {
        return has(AccessFlag.LOCAL_READ_WRITE);
    }

    /** Whether anybody may change the memory. */
    public boolean allowsAnyWrite() {
        return allowsLocalWrite() || allowsPciWrite() || allowsRdmaWrite();
    }

    /**
     * What a set that was given to the other side of the PCIe bus means there: its devices may
     * read, and may write where {@code PCI_READ_WRITE} was given. What the exporter's own devices
     * and RDMA peers may do is not theirs to use.
     */
    public Permissions acrossPci() {
        int local = allowsPciWrite() ? AccessFlag.LOCAL_READ_WRITE.bit() : 0;
        return new Permissions((bits & (PCI | PCI_RELAXED_ORDERING)) | local);
    }

    /** What of this concerns RDMA peers. */
    public Permissions rdmaOnly() {
        return new Permissions(bits & RDMA);
    }

    /** The names of the flags, for messages. */
    @Override
    public String toString() {
        List<AccessFlag> flags = new ArrayList<>();
        for (AccessFlag flag : AccessFlag.values()) {
            boolean shown = flag == AccessFlag.LOCAL_READ_ONLY ? !allowsLocalWrite() : has(flag);
            if (shown) {
                flags.add(flag);
            }
        }
        return flags.toString();
    }
}
