package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.bus.ExportOrigin;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Creation of DPU handles and remote events from export blobs: checks whether one may be imported
 * here, and joins the event. The blob and the reply are untrusted: each field is validated before
 * it is used.
 */
final class HandleImport {
    /** Time limit for the threads of the bus in addition to the reply of the exporter. */
    private static final long GRACE_NANOS = 1_000_000_000L;

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

    /** Refuses the blob of a remote event that cannot be imported here. */
    static void require(RemoteEventBlob blob, Device device) {
        new ExportOrigin(
                        blob.bootId(),
                        blob.fabricId(),
                        blob.topologySha256(),
                        blob.side(),
                        blob.interfaceName())
                .requireReachable(device, busOf(device));
    }

    static Bus busOf(Device device) {
        return BusServices.bus(device);
    }

    /**
     * Result of a join, for its new owner.
     *
     * @param attachment link to the process of the CPU handle, with the counter's memory
     * @param page memory that was sent to that process
     */
    record Joined(Bus bus, Attachment attachment, SharedSegment page) {}

    /**
     * Joins an event.
     *
     * @param blob its blob, which was checked; for messages
     */
    static Joined join(
            Bus bus,
            RegionAddress.Id eventId,
            RegionAddress.Id key,
            Object blob,
            long timeoutNanos) {
        if (Interrupts.isPending()) {
            throw interrupted(blob, null);
        }
        SharedSegment page = allocatePage();
        boolean joined = false;
        try {
            CompletableFuture<Attachment> reply;
            try {
                reply =
                        bus.connect(
                                CpuHandle.nameOf(eventId),
                                new JoinRequest(key).encode(),
                                page,
                                timeoutNanos);
            } catch (FabricException e) {
                throw Failures.of(e);
            }
            Attachment attachment = await(reply, bus, blob, timeoutNanos);
            requireValid(attachment, bus);
            joined = true;
            return new Joined(bus, attachment, page);
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
            CompletableFuture<Attachment> reply, Bus bus, Object blob, long timeoutNanos) {
        long limitNanos =
                timeoutNanos > Long.MAX_VALUE - GRACE_NANOS
                        ? Long.MAX_VALUE
                        : timeoutNanos + GRACE_NANOS;
        try {
            return reply.get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException failure) {
                throw notJoined(Failures.of(failure), blob);
            }
            throw new DpuException(
                    Status.UNEXPECTED, "import failed: export=" + blob, e.getCause());
        } catch (TimeoutException e) {
            abandon(reply, bus);
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format(
                            "import takes too long: timeoutNanos=%d, limitNanos=%d, export=%s",
                            timeoutNanos, limitNanos, blob),
                    e);
        } catch (InterruptedException e) {
            abandon(reply, bus);
            Thread.currentThread().interrupt();
            throw interrupted(blob, e);
        }
    }

    private static DpuException interrupted(Object blob, @Nullable InterruptedException cause) {
        return Interrupts.ended(
                "createFromExport", "awaited=the process of the event, export=" + blob, cause);
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

    /** Cancels the import; a result that has arrived meanwhile is released. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private static void abandon(CompletableFuture<Attachment> reply, Bus bus) {
        if (!reply.cancel(false)) {
            reply.thenAccept(bus::release);
        }
    }
}
