package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.wire.AccessBits;

/**
 * A set of {@link AccessFlag}s that fit together.
 *
 * <p>{@code PCI_READ_ONLY} and {@code PCI_READ_WRITE} exclude each other, and {@code
 * PCI_RELAXED_ORDERING} needs one of them. A value; any thread.
 *
 * @param bits the flags' numbers, added up
 */
public record Permissions(int bits) {
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
        AccessBits.requireLegal(bits);
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
        int have = (bits & AccessBits.PCI_READ_WRITE) == 0 ? bits : bits | AccessBits.PCI_READ_ONLY;
        return (needed.bits & ~AccessBits.PCI_RELAXED_ORDERING & ~have) == 0;
    }

    /** Whether the other side of the PCIe bus may do anything with the memory. */
    public boolean allowsPci() {
        return (bits & AccessBits.PCI) != 0;
    }

    /** Whether an RDMA peer may do anything with the memory. */
    public boolean allowsRdma() {
        return (bits & AccessBits.RDMA) != 0;
    }

    /** Whether the other side of the PCIe bus may change the memory. */
    public boolean allowsPciWrite() {
        return (bits & AccessBits.PCI_READ_WRITE) != 0;
    }

    /** Whether an RDMA peer may change the memory. */
    public boolean allowsRdmaWrite() {
        return (bits & (AccessBits.RDMA_WRITE | AccessBits.RDMA_ATOMIC)) != 0;
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
        return new Permissions((bits & (AccessBits.PCI | AccessBits.PCI_RELAXED_ORDERING)) | local);
    }

    /** What of this concerns RDMA peers. */
    public Permissions rdmaOnly() {
        return new Permissions(bits & AccessBits.RDMA);
    }

    /** The names of the flags, for messages. */
    @Override
    public String toString() {
        return AccessBits.describe(bits);
    }
}
