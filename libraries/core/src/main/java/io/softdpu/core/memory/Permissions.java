package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.wire.AccessBits;

/**
 * Consistent set of {@link AccessFlag}s.
 *
 * <p>{@code PCI_READ_ONLY} and {@code PCI_READ_WRITE} exclude each other, and {@code
 * PCI_RELAXED_ORDERING} needs one of them. Immutable; any thread.
 *
 * @param bits the flags' numbers, added up
 */
public record Permissions(int bits) {
    /** Read access by devices of this machine only. */
    public static final Permissions LOCAL_READ_ONLY = of(AccessFlag.LOCAL_READ_ONLY);

    /** Read and write access by devices of this machine only. */
    public static final Permissions LOCAL_READ_WRITE = of(AccessFlag.LOCAL_READ_WRITE);

    /**
     * Checks that the flags are consistent.
     *
     * @throws DpuException INVALID_VALUE if they are not, or a bit is unknown
     */
    public Permissions {
        AccessBits.requireLegal(bits);
    }

    /**
     * The set of these flags.
     *
     * @throws DpuException INVALID_VALUE if they are not consistent
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
     * Whether all rights of {@code needed} are granted. Reading over PCIe is also granted by {@link
     * AccessFlag#PCI_READ_WRITE}, and the ordering flag is not a right. No allocation: for the data
     * path.
     */
    public boolean grants(Permissions needed) {
        Arguments.notNull(needed, "needed");
        return missingBits(needed) == 0;
    }

    /**
     * The names of the rights of {@code needed} that are not granted, for messages; empty if {@link
     * #grants} is true.
     */
    public String missing(Permissions needed) {
        Arguments.notNull(needed, "needed");
        return AccessBits.names(missingBits(needed));
    }

    private int missingBits(Permissions needed) {
        int have = (bits & AccessBits.PCI_READ_WRITE) == 0 ? bits : bits | AccessBits.PCI_READ_ONLY;
        return needed.bits & ~AccessBits.PCI_RELAXED_ORDERING & ~have;
    }

    /** Whether the other side of the PCIe bus has access. */
    public boolean allowsPci() {
        return (bits & AccessBits.PCI) != 0;
    }

    /** Whether an RDMA peer has access. */
    public boolean allowsRdma() {
        return (bits & AccessBits.RDMA) != 0;
    }

    /** Whether the other side of the PCIe bus may write. */
    public boolean allowsPciWrite() {
        return (bits & AccessBits.PCI_READ_WRITE) != 0;
    }

    /** Whether an RDMA peer may write. */
    public boolean allowsRdmaWrite() {
        return (bits & (AccessBits.RDMA_WRITE | AccessBits.RDMA_ATOMIC)) != 0;
    }

    /** Whether devices of this machine may write. */
    public boolean allowsLocalWrite() {
        return has(AccessFlag.LOCAL_READ_WRITE);
    }

    /** Whether any of them may write. */
    public boolean allowsAnyWrite() {
        return allowsLocalWrite() || allowsPciWrite() || allowsRdmaWrite();
    }

    /**
     * The rights of an importer over PCIe: its devices may read, and with {@code PCI_READ_WRITE}
     * write. The rights of the exporter's own devices and of RDMA peers do not apply to it.
     */
    public Permissions acrossPci() {
        int local = allowsPciWrite() ? AccessFlag.LOCAL_READ_WRITE.bit() : 0;
        return new Permissions((bits & (AccessBits.PCI | AccessBits.PCI_RELAXED_ORDERING)) | local);
    }

    /** The rights of RDMA peers only. */
    public Permissions rdmaOnly() {
        return new Permissions(bits & AccessBits.RDMA);
    }

    /** The names of the flags, for messages. */
    @Override
    public String toString() {
        return AccessBits.describe(bits);
    }
}
