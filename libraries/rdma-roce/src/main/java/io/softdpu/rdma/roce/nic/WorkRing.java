package io.softdpu.rdma.roce.nic;

import io.softdpu.core.Status;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Ring of work requests from one thread to another, each with a status. The writer's additions are
 * seen when they are published, and can be taken back until then. The users limit the requests in
 * it to its size. Allocates nothing after its construction.
 */
public final class WorkRing {
    private static final VarHandle PUBLISHED;
    private static final VarHandle TAKEN;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PUBLISHED = lookup.findVarHandle(WorkRing.class, "published", long.class);
            TAKEN = lookup.findVarHandle(WorkRing.class, "taken", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final @Nullable WorkRequest[] requests;
    private final Status[] statuses;
    private final int mask;

    /** Number of requests that were ever published; written by the writer. */
    private long published;

    /** Number of requests that were ever taken; written by the reader. */
    private long taken;

    // Of the writer.
    private long added;
    private long takenBack;

    // Of the reader.
    private Status status = Status.SUCCESS;

    /**
     * An empty ring.
     *
     * @param capacity limit of requests, at least 1
     */
    public WorkRing(int capacity) {
        int size = capacity <= 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        requests = new @Nullable WorkRequest[size];
        statuses = new Status[size];
        mask = size - 1;
    }

    // ---- the writer ----

    /**
     * Adds a request, which is not seen yet.
     *
     * @throws IllegalStateException if the ring is full
     */
    public void add(WorkRequest request, Status ofRequest) {
        if (added - (long) TAKEN.getAcquire(this) > mask) {
            throw new IllegalStateException(
                    "ring of requests is full: capacity=" + requests.length);
        }
        requests[(int) added & mask] = request;
        statuses[(int) added & mask] = ofRequest;
        added++;
    }

    /** Number of requests that were added and not published. */
    public int unpublished() {
        return (int) (added - published - takenBack);
    }

    /**
     * Publishes all that was added.
     *
     * @return whether there was something
     */
    public boolean publish() {
        if (added == published) {
            return false;
        }
        PUBLISHED.setRelease(this, added);
        return true;
    }

    /**
     * Takes back the oldest request that was not published. Nothing is published afterwards.
     *
     * @return null if there is none
     */
    public @Nullable WorkRequest takeBack() {
        if (unpublished() == 0) {
            return null;
        }
        WorkRequest request = requests[(int) (published + takenBack) & mask];
        takenBack++;
        return request;
    }

    // ---- the reader ----

    /** Number of requests that were published and not taken. */
    public long available() {
        return (long) PUBLISHED.getAcquire(this) - taken;
    }

    /** Number of requests that were ever published. */
    public long published() {
        return (long) PUBLISHED.getAcquire(this);
    }

    /** Number of requests that were ever taken. */
    public long taken() {
        return taken;
    }

    /**
     * Takes the oldest request.
     *
     * @return null if there is none
     */
    public @Nullable WorkRequest poll() {
        if (taken == (long) PUBLISHED.getAcquire(this)) {
            return null;
        }
        int place = (int) taken & mask;
        WorkRequest request = requests[place];
        status = statuses[place];
        requests[place] = null;
        TAKEN.setRelease(this, taken + 1);
        return request;
    }

    /** Status of the request that was taken last. */
    public Status status() {
        return status;
    }
}
