package io.softdpu.block.file;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;
import io.softdpu.core.spi.FixedQueue;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * Requests of a channel that have to become durable: those that wait for a sync, and those that the
 * one under way serves. Belongs to the thread of the engine. Allocates nothing after its
 * construction.
 *
 * <p>The kernel reports a lost page once per open file: of two syncs of one open file at a time one
 * may succeed beside the failure of the other. So there is one at a time, or one write that is
 * durable by itself, in whose place all other writes are plain ones that wait for the next sync.
 */
final class SyncGroup {
    private final BiConsumer<Slot, Status> finish;

    private FixedQueue<Slot> waiting;
    private FixedQueue<Slot> served;

    /** Number of requests in flight that have to become durable. */
    private int inFlight;

    /** Whether the turn is taken: until a durable write, or all that a sync serves, has ended. */
    private boolean busy;

    /** Whether the sync has ended. */
    private boolean ended;

    private Status result = Status.SUCCESS;

    /**
     * Creates a group.
     *
     * @param maxRequests limit of requests
     * @param finish ends a request
     */
    SyncGroup(int maxRequests, BiConsumer<Slot, Status> finish) {
        this.finish = finish;
        this.waiting = new FixedQueue<>(maxRequests);
        this.served = new FixedQueue<>(maxRequests);
    }

    /** A request that has to become durable has begun. */
    void begun() {
        inFlight++;
    }

    /** That request ends. */
    void ended() {
        inFlight--;
    }

    /**
     * Takes the turn for a write that is durable by itself.
     *
     * @return false if it is taken, or another request is there, which one sync serves as well
     */
    boolean takeTurn() {
        if (busy || inFlight > 1) {
            return false;
        }
        busy = true;
        return true;
    }

    /** Gives back that turn. */
    void leaveTurn() {
        busy = false;
    }

    /** Lets a request wait for the next sync that begins. */
    void add(Slot slot) {
        waiting.add(slot);
    }

    /**
     * Takes the turn for a sync of all that wait.
     *
     * @param sync given the range to be synced
     * @return whether one begins; {@link #end} follows
     */
    boolean begin(Slot sync) {
        if (busy || waiting.isEmpty()) {
            return false;
        }
        busy = true;
        FixedQueue<Slot> next = waiting;
        waiting = served; // empty
        served = next;
        setRange(sync);
        return true;
    }

    /** The range of a single write, else all. */
    private void setRange(Slot sync) {
        sync.offsetBytes = 0;
        sync.lengthBytes = 0;
        if (served.size() == 1) {
            BlockRequest request =
                    Objects.requireNonNull(served.peek().request, "a request in its place");
            if (request.operation == BlockOperation.WRITE) {
                sync.offsetBytes = request.offsetBytes;
                sync.lengthBytes = request.lengthBytes;
            }
        }
    }

    /** The sync has ended: ends what it has served. */
    void end(Status status) {
        ended = true;
        result = status;
        boolean _ = complete();
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
        Status status = result;
        for (int left = served.size(); left > 0; left--) {
            Slot slot = served.remove();
            if (left == 1) { // the callback of the last may submit one that takes the turn
                ended = false;
                busy = false;
            }
            finish.accept(slot, status);
        }
        return true;
    }

    /** Ends the requests for which no sync has begun. */
    void takeBackWaiting() {
        while (!waiting.isEmpty()) {
            finish.accept(waiting.remove(), Status.SHUTDOWN);
        }
    }
}
