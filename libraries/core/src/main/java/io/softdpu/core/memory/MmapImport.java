package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.bus.ExportOrigin;
import io.softdpu.core.spi.bus.ImportWait;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.RegionAddress;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Import of an mmap from an export blob: decodes it, checks whether it may be imported here, and
 * leases the memory. No exporter can be asked for a lease of memory that another kernel or fabric
 * folder exports for RDMA: a transport reaches it by its key, and the peer refuses what it does not
 * grant.
 *
 * <p>The blob is untrusted: every field is validated before it is used, and the message of a
 * refusal never contains a key.
 */
final class MmapImport {
    /** Bus of a peer that has none. */
    private static final RegionAddress.Id NOWHERE = new RegionAddress.Id(0, 0);

    private MmapImport() {}

    static Mmap run(byte[] blob, Device device, Mapping mapping, Duration timeout) {
        Arguments.notNull(blob, "blob");
        Arguments.notNull(device, "device");
        Arguments.notNull(mapping, "mapping");
        long timeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        ExportDescriptor descriptor = ExportDescriptor.decode(blob);
        Bus bus = MachineAccess.of(Machine.class).bus(device.machine());
        ExportOrigin origin =
                new ExportOrigin(
                        descriptor.region().bootId(),
                        descriptor.region().fabricId(),
                        descriptor.topologyDigest(),
                        descriptor.side(),
                        descriptor.interfaceName());
        boolean byKey = descriptor.kind() == ExportDescriptor.Kind.RDMA && !origin.isOn(bus);
        if (byKey) {
            requireImportable(bus, descriptor);
        } else {
            origin.requireReachable(device, bus);
        }
        if (descriptor.kind() == ExportDescriptor.Kind.PCI) {
            origin.requireParent(device);
        }
        Dependents.Dependency onDevice = DependentsAccess.of(Device.class, device).add("mmap");
        boolean made = false;
        try {
            ImportedRegion lease = byKey ? null : lease(bus, descriptor, mapping, timeoutNanos);
            made = true;
            return new Mmap(MmapOrigin.of(descriptor, lease), device, onDevice);
        } finally {
            if (!made) {
                onDevice.release();
            }
        }
    }

    /** The import of memory that its peer names by address and key, without a blob. */
    static Mmap byKey(
            Device device,
            byte[] gid,
            long address,
            int key,
            long sizeBytes,
            Permissions permissions) {
        if (sizeBytes < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "memory of a peer is empty: sizeBytes=" + sizeBytes + ", expected=at least 1");
        }
        ExportDescriptor descriptor =
                new ExportDescriptor(
                        ExportDescriptor.Kind.RDMA,
                        permissions.bits(),
                        key,
                        address,
                        gid,
                        new byte[ExportDescriptor.DIGEST_BYTES],
                        new RegionAddress(NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE, sizeBytes),
                        Side.TARGET,
                        HexFormat.of().formatHex(gid));
        requireImportable(MachineAccess.of(Machine.class).bus(device.machine()), descriptor);
        Dependents.Dependency onDevice = DependentsAccess.of(Device.class, device).add("mmap");
        return new Mmap(MmapOrigin.of(descriptor, null), device, onDevice);
    }

    private static void requireImportable(Bus bus, ExportDescriptor descriptor) {
        try {
            bus.requireImportable(descriptor.region());
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    private static ImportedRegion lease(
            Bus bus, ExportDescriptor descriptor, Mapping mapping, long timeoutNanos) {
        Permissions granted = new Permissions(descriptor.permissions());
        boolean writable =
                switch (descriptor.kind()) {
                    case PCI -> granted.allowsPciWrite();
                    case RDMA -> granted.allowsRdmaWrite();
                };
        boolean map = mapping == Mapping.ACCESS;
        return new ImportWait("Mmap.createFromExport", "the exporter", descriptor, timeoutNanos)
                .run(
                        () -> bus.importRegion(descriptor.region(), writable, map, timeoutNanos),
                        map ? descriptor.sizeBytes() : 0);
    }
}
