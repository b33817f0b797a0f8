package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.bus.ExportedMemory;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Counter of a sync event of another process as tasks of this process change it, and the page by
 * which they wake those who wait. No thread here sleeps for it. Any thread, while it is open.
 */
final class RemoteCounter implements ExportedMemory {
    private final Bus bus;
    private final RegionAddress.Id exporter;
    private final SharedSegment counter;
    private final MemorySegment memory;
    private final Peer owner;
    private final String event;

    /**
     * Takes over what a join has created.
     *
     * @param exporter the bus of the process of the event
     * @param event its name, for messages
     */
    RemoteCounter(HandleImport.Joined joined, RegionAddress.Id exporter, String event) {
        this.bus = joined.bus();
        this.exporter = exporter;
        this.counter = joined.attachment().remote();
        this.memory = counter.segment();
        this.owner = new Peer(Guest.REMOTE_EVENT, bus, joined.attachment().link(), joined.page());
        this.event = event;
    }

    @Override
    public RegionAddress.Id exporter() {
        return exporter;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public @Nullable Refusal checkAlive() {
        Status ended = owner.ended();
        return ended == Status.SUCCESS ? null : ended(ended);
    }

    private Refusal ended(Status ended) {
        return Refusal.of(
                ended,
                "%s: event=%s, expected=a new export of another sync event",
                ended == Status.SHUTDOWN
                        ? "sync event was destroyed"
                        : "process of the sync event has ended",
                event);
    }

    /** Wakes those who wait: one load if none of them sleeps, and one system call else. */
    @Override
    public void changed() {
        // A transport may have set the counter by a plain store, which must not be delayed beyond
        // the load of the request: the sleeper would see the old value, and this thread no request.
        VarHandle.fullFence();
        owner.ringIfWanted();
    }

    /** Its name, for messages. */
    @Override
    public String toString() {
        return event;
    }

    /** Releases it; no task uses it any more. Once. */
    void close() {
        // The end of the link tells the other process that the counter is mapped here no more.
        bus.release(counter, owner::release);
    }
}
