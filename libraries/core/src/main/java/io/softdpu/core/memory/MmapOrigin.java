package io.softdpu.core.memory;

import io.softdpu.core.Status;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.fabric.region.ImportedRegion;

/**
 * Where an imported mmap comes from.
 *
 * @param descriptor what the exporter said
 * @param region the lease, with a mapping or without
 * @param rights what the importer may do with it
 */
record MmapOrigin(ExportDescriptor descriptor, ImportedRegion region, Permissions rights) {
    static MmapOrigin of(ExportDescriptor descriptor, ImportedRegion region) {
        Permissions granted = new Permissions(descriptor.permissions());
        return new MmapOrigin(
                descriptor,
                region,
                descriptor.kind() == ExportDescriptor.Kind.RDMA ? granted : granted.acrossPci());
    }

    boolean byRdma() {
        return descriptor.kind() == ExportDescriptor.Kind.RDMA;
    }

    /** Checked before each use; no allocation, no lock. */
    Status checkUse(Permissions needed) {
        boolean byRdma = byRdma();
        // Reading here has no bit of its own, so what came by RDMA has to be asked for by RDMA.
        if (!rights.grants(needed) || (byRdma && !needed.allowsRdma())) {
            return Status.NOT_PERMITTED;
        }
        if (!byRdma && region.memory() == null) {
            return Status.NOT_SUPPORTED;
        }
        return region.revoked() ? revokedStatus() : Status.SUCCESS;
    }

    /** Why a lease that is {@linkplain ImportedRegion#revoked() revoked} cannot be used. */
    Status revokedStatus() {
        return region.withdrawn() ? Status.SHUTDOWN : Status.CONNECTION_RESET;
    }
}
