package io.softdpu.core.memory;

import io.softdpu.core.Status;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.fabric.region.ImportedRegion;

/**
 * Origin of an imported mmap.
 *
 * @param descriptor the exporter's blob
 * @param region the lease, with a mapping or without
 * @param rights of the importer
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

    /** Checks a use; no allocation, no lock. */
    Status checkUse(Permissions needed) {
        boolean byRdma = byRdma();
        // Local reading has no bit of its own, so an RDMA import must be used with RDMA rights.
        if (!rights.grants(needed) || (byRdma && !needed.allowsRdma())) {
            return Status.NOT_PERMITTED;
        }
        if (!byRdma && region.memory() == null) {
            return Status.NOT_SUPPORTED;
        }
        return region.revoked() ? revokedStatus() : Status.SUCCESS;
    }

    /** The status of use after the lease was {@linkplain ImportedRegion#revoked() revoked}. */
    Status revokedStatus() {
        return region.revokedExplicitly() ? Status.SHUTDOWN : Status.CONNECTION_RESET;
    }
}
