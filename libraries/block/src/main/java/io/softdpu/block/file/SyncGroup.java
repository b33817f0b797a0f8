package io.softdpu.block.file;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.core.Status;
import io.softdpu.core.spi.FixedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/**
 * Requests of a channel whose last step is a sync of the device: those that wait for one, and those
 * that the next one serves. Belongs to the thread of the engine, except for what threads of the
 * device call, one at a time. Allocates nothing after its construction.
 */
final class SyncGroup implements BlockRequest.Owner {
    private final Syncs syncs;
    private final CompletionQueue reports;
    private final Runnable wake;
    private final BiConsumer<Slot, Status> finish;

    /** Request by which a thread of the device reports the end of a sync. */
    private final BlockRequest report = new BlockRequest(BlockOperation.FLUSH, this, null);

    private FixedQueue<Slot> waiting;
    private FixedQueue<Slot> served;

    /** Whether a sync is wanted or under way, or requests that it served have not ended. */
    private boolean busy;

    /** Whether the sync has ended. */
    private boolean ended;

    private Status result = Status.SUCCESS;
    private boolean stopping;

    /** Set by the engine, and cleared by who begins the sync or takes it back. */
    private final AtomicBoolean wanted = new AtomicBoolean();

    /** Whether the sync under way serves this. Of the thread that syncs. */
    private boolean begun;

    /**
     * Creates a group, which is to be added to the syncs.
     *
     * @param maxRequests limit of requests
     * @param reports of the channel
     * @param wake wakes a thread of the device
     * @param finish ends a request
     */
    SyncGroup(
            Syncs syncs,
            int maxRequests,
            CompletionQueue reports,
            Runnable wake,
            BiConsumer<Slot, Status> finish) {
        this.syncs = syncs;
        this.reports = reports;
        this.wake = wake;
        this.finish = finish;
        this.waiting = new FixedQueue<>(maxRequests);
        this.served = new FixedQueue<>(maxRequests);
    }

    // ---- the engine's thread ----

    /** Lets a request wait for the next sync that begins. */
    void add(Slot slot) {
        waiting.add(slot);
        want();
    }

    private void want() {
        if (busy || stopping || waiting.isEmpty()) {
            return;
        }
        busy = true;
        FixedQueue<Slot> next = waiting;
        waiting = served; // empty
        served = next;
        reports.handedOver();
        wanted.set(true);
        wake.run();
    }

    /** The sync has ended, or was taken back. */
    @Override
    public void completed(Status status) {
        ended = true;
        // Another one that has failed since then overlaps with these requests.
        result = status == Status.SUCCESS && syncs.hasFailed() ? Status.IO_FAILED : status;
        boolean _ = complete();
    }

    /** Not asked for: a report has no memory. */
    @Override
    public Status memoryStatus() {
        return Status.SUCCESS;
    }

    /** Whether requests that a sync has served are not ended yet. */
    boolean hasEnded() {
        return ended;
    }

    /**
     * Ends the requests that a sync has served; again, if the callback of one has thrown.
     *
     * @return whether there was any
     */
    boolean complete() {
        if (!ended) {
            return false;
        }
        while (!served.isEmpty()) {
            finish.accept(served.remove(), result);
        }
        ended = false;
        busy = false;
        want();
        return true;
    }

    /** Takes back the sync that has not begun; {@link #finishWaiting} follows. */
    void stop() {
        stopping = true;
        if (wanted.compareAndSet(true, false)) {
            reports.add(report, Status.SHUTDOWN);
        }
    }

    /** Ends the requests for which no sync is wanted any more. */
    void finishWaiting() {
        boolean _ = complete();
        while (!waiting.isEmpty()) {
            finish.accept(waiting.remove(), Status.SHUTDOWN);
        }
    }

    // ---- threads of the device, inside Syncs ----

    /** Whether a sync is wanted. Any thread. */
    boolean isWanted() {
        return wanted.get();
    }

    /** Takes part in the sync that begins, if one is wanted. */
    void begin() {
        begun = wanted.compareAndSet(true, false);
    }

    /** The sync has ended: reports it, if this takes part. */
    void end(Status status) {
        if (begun) {
            begun = false; // first: the channel may close as soon as it has the report
            reports.add(report, status);
        }
    }
}
