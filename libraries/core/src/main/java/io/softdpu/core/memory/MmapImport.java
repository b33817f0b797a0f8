package io.softdpu.core.memory;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.bus.ExportOrigin;
import io.softdpu.core.spi.bus.ImportWait;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.region.ImportedRegion;
import java.time.Duration;

/**
 * Import of an mmap from an export blob: decodes it, checks whether it may be imported here, and
 * leases the memory.
 *
 * <p>The blob is untrusted: every field is validated before it is used, and the message of a
 * refusal never contains a key.
 */
final class MmapImport {
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
        origin.requireReachable(device, bus);
        Permissions granted = new Permissions(descriptor.permissions());
        boolean writable =
                switch (descriptor.kind()) {
                    case PCI -> {
                        origin.requireParent(device);
                        yield granted.allowsPciWrite();
                    }
                    case RDMA -> granted.allowsRdmaWrite();
                };
        Dependents.Dependency onDevice = DependentsAccess.of(Device.class, device).add("mmap");
        boolean made = false;
        try {
            boolean map = mapping == Mapping.ACCESS;
            ImportedRegion region =
                    new ImportWait(
                                    "Mmap.createFromExport",
                                    "the exporter",
                                    descriptor,
                                    timeoutNanos)
                            .run(
                                    () ->
                                            bus.importRegion(
                                                    descriptor.region(),
                                                    writable,
                                                    map,
                                                    timeoutNanos),
                                    map ? descriptor.sizeBytes() : 0);
            made = true;
            return new Mmap(MmapOrigin.of(descriptor, region), device, onDevice);
        } finally {
            if (!made) {
                onDevice.release();
            }
        }
    }
}
