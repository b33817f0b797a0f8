package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.bus.ExportOrigin;
import io.softdpu.core.spi.bus.ImportWait;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.util.function.Supplier;

/**
 * Creation of DPU handles and remote events from export blobs: checks whether one may be imported
 * here, and joins the event. The blob and the reply are untrusted: each field is validated before
 * it is used.
 */
final class HandleImport {
    private HandleImport() {}

    /** Refuses a blob that may not be imported by this device. */
    static void require(SyncEventBlob blob, Device device) {
        Bus bus = busOf(device);
        ExportOrigin origin =
                new ExportOrigin(
                        blob.bootId(),
                        blob.fabricId(),
                        blob.topologySha256(),
                        blob.side(),
                        blob.interfaceName());
        origin.requireReachable(device, bus);
        origin.requireParent(device);
    }

    /**
     * Whether a remote event joins its event: that of another kernel or fabric folder does not, and
     * is reached by its key alone.
     *
     * @throws DpuException BAD_CONFIG for an event of this folder with another topology
     */
    static boolean joins(RemoteEventBlob blob, Device device) {
        Bus bus = busOf(device);
        ExportOrigin origin =
                new ExportOrigin(
                        blob.bootId(),
                        blob.fabricId(),
                        blob.topologyDigest(),
                        blob.side(),
                        blob.interfaceName());
        if (!origin.isOn(bus)) {
            return false;
        }
        origin.requireReachable(device, bus);
        return true;
    }

    static Bus busOf(Device device) {
        return BusServices.bus(device);
    }

    /**
     * Joins an event.
     *
     * @param kind the kind of object that joins
     * @param blob its blob, which was checked; for messages
     */
    static DpuHandle join(
            ImportKind kind,
            Bus bus,
            RegionAddress.Id eventId,
            RegionAddress.Id key,
            Object blob,
            long timeoutNanos) {
        SharedSegment page = allocatePage();
        boolean joined = false;
        try {
            Attachment attachment =
                    await(
                            () ->
                                    bus.connect(
                                            CpuHandle.nameOf(eventId),
                                            new JoinRequest(key).encode(),
                                            page,
                                            timeoutNanos),
                            blob,
                            timeoutNanos);
            requireValid(attachment, bus);
            joined = true;
            return new DpuHandle(kind, bus, attachment, page);
        } finally {
            if (!joined) {
                bus.release(page);
            }
        }
    }

    private static SharedSegment allocatePage() {
        try {
            return SharedSegment.allocate("softdpu-sync-handle", HandlePage.BYTES);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
    }

    private static void requireValid(Attachment attachment, Bus bus) {
        boolean valid = false;
        try {
            JoinRequest.requireReply(attachment.payload());
            if (attachment.remote().sizeBytes() != EventCounter.BYTES) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "memory of a sync event has the wrong size: sizeBytes=%d,"
                                        + " expected=%d",
                                attachment.remote().sizeBytes(), EventCounter.BYTES));
            }
            valid = true;
        } finally {
            if (!valid) {
                bus.release(attachment);
            }
        }
    }

    private static Attachment await(
            Supplier<Import<Attachment>> request, Object blob, long timeoutNanos) {
        try {
            return new ImportWait(
                            "createFromExport", "the process of the event", blob, timeoutNanos)
                    .run(request, 0);
        } catch (DpuException e) {
            throw notJoined(e, blob);
        }
    }

    /** Says what the end of the handshake means for the event. */
    private static DpuException notJoined(DpuException failure, Object blob) {
        return switch (failure.status()) {
            case NOT_FOUND ->
                    new DpuException(
                            Status.NOT_FOUND,
                            Text.format(
                                    "sync event was stopped or has ended, or the key is wrong:"
                                            + " export=%s, expected=the export of a started event",
                                    blob),
                            failure);
            case CONNECTION_RESET ->
                    new DpuException(
                            Status.CONNECTION_RESET,
                            Text.format(
                                    "process of the CPU handle has ended during the import:"
                                            + " export=%s",
                                    blob),
                            failure);
            default -> failure;
        };
    }
}
