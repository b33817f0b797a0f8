package io.softdpu.core.sync;

import io.softdpu.core.device.Device;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process that has joined a sync event and keeps no rule: it writes and rings as it likes. */
final class HostileHandle implements AutoCloseable {
    private final Bus bus;
    private final SharedSegment page;
    private final Attachment attachment;
    private boolean closed;

    /** Joins as a DPU handle. */
    static HostileHandle ofDpu(byte[] blob, Device device) {
        SyncEventBlob decoded = SyncEventBlob.decode(blob);
        return new HostileHandle(decoded.eventId(), decoded.key(), device);
    }

    /** Joins as a remote event. */
    static HostileHandle ofPeer(byte[] blob, Device device) {
        RemoteEventBlob decoded = RemoteEventBlob.decode(blob);
        return new HostileHandle(decoded.eventId(), decoded.key(), device);
    }

    private HostileHandle(RegionAddress.Id eventId, RegionAddress.Id key, Device device) {
        bus = HandleImport.busOf(device);
        page = SharedSegment.allocate("softdpu-hostile", HandlePage.BYTES);
        try {
            attachment =
                    bus.connect(
                                    CpuHandle.nameOf(eventId),
                                    new JoinRequest(key).encode(),
                                    page,
                                    Patience.NANOS)
                            .future()
                            .get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("not joined", e);
        }
    }

    /** Writes a word of its page. */
    void write(long offset, int value) {
        page.segment().set(ValueLayout.JAVA_INT, offset, value);
    }

    /** Requests a doorbell, as one that has seen this value. */
    void arm(long seen) {
        HandlePage.arm(page.segment(), seen);
    }

    /** Writes the counter without telling anybody. */
    void setCounter(long value) {
        attachment.remote().segment().set(ValueLayout.JAVA_LONG, 0, value);
    }

    /** Whether it is asked to ring after an update. */
    boolean isWanted() {
        return HandlePage.isWanted(page.segment());
    }

    /** Whether it was told that the event has ended. */
    boolean isEnded() {
        return HandlePage.isEnded(page.segment());
    }

    /** Writes no more to its link, and keeps the memory. */
    void shutDown() {
        attachment.link().shutdownOutput();
    }

    void ring() {
        attachment.link().ring();
    }

    /** Once, however often it is called. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        bus.release(attachment);
        bus.release(page);
    }
}
