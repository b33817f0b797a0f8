package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.Bus;
import io.softdpu.linux.text.Text;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Exports of a started sync event: checks of the exporting device, and blobs by which importers
 * join the CPU handle. Under the lock of the event.
 *
 * @param event for messages
 * @param device of the event
 */
record EventExport(
        SyncEvent event, Device device, EventConfiguration configuration, CpuHandle cpu) {

    /** Refuses a device that cannot export to the DPU. */
    static void requireFunctionOfHost(Device exporting, SyncEvent event) {
        if (exporting.machine().side() != Side.HOST
                || !exporting.info().isMmapExportPciSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "sync events are exported by devices of the host that a port of the DPU"
                                    + " has created: device=%s, side=%s, event=%s",
                            exporting, exporting.machine().side().id(), event));
        }
    }

    /** The blob for the DPU. */
    byte[] pci(Device exporting) {
        Bus bus = requireExporting(exporting, SyncEventLocation.DPU);
        CpuHandle.Invitation invitation =
                cpu.invite(
                        ImportKind.DPU_HANDLE,
                        SyncEventCapabilities.of(exporting.info()).maxDpuHandles());
        return new SyncEventBlob(
                        placeOf(configuration.publisher()),
                        placeOf(configuration.subscriber()),
                        bus.bootId(),
                        bus.fabricId(),
                        invitation.eventId(),
                        invitation.key(),
                        device.machine().topology().sha256(),
                        exporting.info().interfaceName())
                .encode();
    }

    private static SyncEventBlob.Place placeOf(@Nullable SyncEventLocation location) {
        return SyncEventBlob.Place.valueOf(Objects.requireNonNull(location, "started").name());
    }

    /** The blob for an RDMA peer. */
    byte[] rdma(Device exporting) {
        Bus bus = requireExporting(exporting, SyncEventLocation.REMOTE);
        CpuHandle.Invitation invitation =
                cpu.invite(
                        ImportKind.REMOTE_EVENT,
                        SyncEventCapabilities.of(exporting.info()).maxRemoteEvents());
        MemoryKey named = cpu.keyOf(exporting);
        return new RemoteEventBlob(
                        exporting.machine().side(),
                        bus.bootId(),
                        bus.fabricId(),
                        bus.busId(),
                        invitation.eventId(),
                        invitation.key(),
                        Arrays.copyOf(
                                device.machine().topology().sha256(), RemoteEventBlob.DIGEST_BYTES),
                        named.address(),
                        named.key(),
                        exporting.info().function().gid(),
                        exporting.info().interfaceName())
                .encode();
    }

    /** Requires a location, and a device of the event's machine; its bus. */
    private Bus requireExporting(Device exporting, SyncEventLocation needed) {
        SyncEventLocation publisher = configuration.publisher();
        SyncEventLocation subscriber = configuration.subscriber();
        if (publisher != needed && subscriber != needed) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "%s is not among the locations: publisher=%s, subscriber=%s, event=%s,"
                                    + " expected=%s as one of them",
                            needed, publisher, subscriber, event, needed));
        }
        Bus bus = HandleImport.busOf(device);
        if (HandleImport.busOf(exporting) != bus) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "device belongs to another machine: device=%s, eventDevice=%s,"
                                    + " event=%s",
                            exporting, device, event));
        }
        return bus;
    }
}
