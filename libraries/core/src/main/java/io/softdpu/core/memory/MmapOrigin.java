package io.softdpu.core.memory;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.bus.ExportedMemory;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Origin of an imported mmap.
 *
 * @param descriptor the exporter's blob
 * @param lease with a mapping or without; null for memory of another kernel or fabric folder, which
 *     is reached by its key alone
 * @param rights of the importer
 */
record MmapOrigin(ExportDescriptor descriptor, @Nullable ImportedRegion lease, Permissions rights)
        implements ExportedMemory {
    static MmapOrigin of(ExportDescriptor descriptor, @Nullable ImportedRegion lease) {
        Permissions granted = new Permissions(descriptor.permissions());
        return new MmapOrigin(
                descriptor,
                lease,
                descriptor.kind() == ExportDescriptor.Kind.RDMA ? granted : granted.acrossPci());
    }

    boolean byRdma() {
        return descriptor.kind() == ExportDescriptor.Kind.RDMA;
    }

    /** The exporting device and the kind of import, for messages; without its keys. */
    String describe() {
        return Text.format(
                "imported over %s%s from %s",
                byRdma() ? "RDMA" : "PCIe",
                lease == null ? " by its key" : memory() == null ? " without a mapping" : "",
                PciFunction.key(
                        descriptor.side(), ForeignText.escapeAndCut(descriptor.interfaceName())));
    }

    /** Checks a use of the import; no allocation unless it is refused, no lock. */
    @Nullable Refusal checkUse(Permissions needed, Mmap of) {
        boolean byRdma = byRdma();
        // Local reading has no bit of its own, so an RDMA import must be used with RDMA rights.
        if (!rights.grants(needed) || (byRdma && !needed.allowsRdma())) {
            return notGranted(needed, of);
        }
        if (!byRdma && memory() == null) {
            return Refusal.of(
                    Status.NOT_SUPPORTED,
                    "mmap was imported without a mapping, for re-export only: mmap=%s, expected=an"
                            + " import with Mapping.ACCESS",
                    of);
        }
        return isRevoked() ? revoked(of) : null;
    }

    @Override
    public @Nullable Refusal checkAlive() {
        return lease != null && lease.revokedWhileHeld() ? revoked(this) : null;
    }

    @Override
    public @Nullable MemorySegment memory() {
        SharedSegment mapped = lease == null ? null : lease.memory();
        return mapped == null ? null : mapped.segment();
    }

    /**
     * Maps memory without a mapping for peers that access it by key, not for tasks of this program;
     * waits for it.
     *
     * @return null if the import is closed
     * @throws io.softdpu.core.DpuException FULL, NO_MEMORY, TIME_OUT, as an import with a mapping
     */
    @Nullable MemorySegment mapForPeers() {
        try {
            SharedSegment mapped = lease == null ? null : lease.mapForPeers();
            return mapped == null ? null : mapped.segment();
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    @Override
    public long address() {
        return descriptor.address();
    }

    @Override
    public int key() {
        return descriptor.remoteKey();
    }

    @Override
    public boolean isOf(byte[] gid) {
        return descriptor.hasGid(gid);
    }

    @Override
    public boolean isOnBus() {
        return lease != null;
    }

    @Override
    public RegionAddress.Id exporter() {
        return descriptor.region().busId();
    }

    /** As {@link #describe()}: without keys. */
    @Override
    public String toString() {
        return describe();
    }

    private Refusal notGranted(Permissions needed, Mmap of) {
        if (byRdma() && !needed.allowsRdma()) {
            return Refusal.of(
                    Status.NOT_PERMITTED,
                    "mmap was imported from RDMA, and is not memory of this machine: needed=%s,"
                            + " mmap=%s, expected=a local mmap or an import over PCIe",
                    needed,
                    of);
        }
        return Refusal.of(
                Status.NOT_PERMITTED,
                "exporter does not grant %s: granted=%s, mmap=%s, expected=%s by"
                        + " Mmap.setPermissions of the exporter",
                rights.missing(needed),
                rights,
                of,
                new Permissions(descriptor.permissions()).missing(exporterGrants(needed)));
    }

    /** The rights that an exporter has to grant, so that an importer has these. */
    private Permissions exporterGrants(Permissions needed) {
        return byRdma() || needed.allowsPci() || needed.allowsRdma()
                ? needed
                : Permissions.of(
                        needed.allowsLocalWrite()
                                ? AccessFlag.PCI_READ_WRITE
                                : AccessFlag.PCI_READ_ONLY);
    }

    private Refusal revoked(Object of) {
        Status status = revokedStatus();
        return Refusal.of(
                status,
                "%s: mmap=%s, expected=a new export, imported again",
                status == Status.SHUTDOWN
                        ? "exporter has revoked the memory"
                        : "exporter has ended",
                of);
    }

    /** Whether the exporter has revoked the memory or has ended; false for memory by its key. */
    boolean isRevoked() {
        return lease != null && lease.revoked();
    }

    /** The status of use after the lease was {@linkplain ImportedRegion#revoked() revoked}. */
    Status revokedStatus() {
        return lease == null || lease.revokedExplicitly()
                ? Status.SHUTDOWN
                : Status.CONNECTION_RESET;
    }

    /** Ends the lease: no use is in progress. */
    void close() {
        if (lease != null) {
            lease.close();
        }
    }
}
