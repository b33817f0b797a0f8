package io.softdpu.rdma.roce.rc;

import org.jspecify.annotations.Nullable;

/**
 * Queue pairs of an adapter that have packets to send, by turns, and their deadlines. A queue pair
 * keeps it up to date. One that has ended has its next turn before the others, and before the
 * message that tells its peer of the end.
 *
 * <p>Deadlines are in a heap. One that moves to a later time, as most do with each packet, stays
 * where it is: its queue pair is asked again when the earlier time has passed. So {@link
 * #nextDeadline} may be too early, and then nothing expires.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class Agenda {
    /** Position of a queue pair that is not in the heap. */
    static final int ABSENT = -1;

    /** Requests whose completion costs about as much as a deadline does. */
    private static final int REQUESTS_PER_DEADLINE = 16;

    private final @Nullable QueuePair[] ready;
    private int firstReady;
    private int readyCount;
    private final @Nullable QueuePair[] heap;
    private int heapCount;

    /**
     * An empty agenda.
     *
     * @param queuePairs limit of queue pairs
     */
    public Agenda(int queuePairs) {
        ready = new @Nullable QueuePair[queuePairs];
        heap = new @Nullable QueuePair[queuePairs];
    }

    // ---- packets to send ----

    /** Adds a queue pair behind the others, unless it is there. */
    void add(QueuePair queuePair) {
        if (!queuePair.listed) {
            queuePair.listed = true;
            ready[wrapped(firstReady + readyCount)] = queuePair;
            readyCount++;
        }
    }

    /** Adds a queue pair that has ended before the others, for one turn. */
    void addFirst(QueuePair queuePair) {
        if (queuePair.urgent) {
            return;
        }
        removeReady(queuePair);
        queuePair.listed = true;
        queuePair.urgent = true;
        firstReady = wrapped(firstReady + ready.length - 1);
        ready[firstReady] = queuePair;
        readyCount++;
    }

    /** Whether the queue pair whose turn it is has ended since its last one. */
    public boolean isUrgent() {
        QueuePair first = readyCount == 0 ? null : ready[firstReady];
        return first != null && first.urgent;
    }

    /** Place in the list: a comparison costs less than a division. */
    private int wrapped(int place) {
        return place < ready.length ? place : place - ready.length;
    }

    /** Number of queue pairs that have packets to send, or had when they were added. */
    public int ready() {
        return readyCount;
    }

    /** Removes the queue pair whose turn it is; null if there is none. */
    public @Nullable QueuePair takeReady() {
        if (readyCount == 0) {
            return null;
        }
        QueuePair queuePair = ready[firstReady];
        ready[firstReady] = null;
        firstReady = wrapped(firstReady + 1);
        readyCount--;
        if (queuePair != null) {
            queuePair.listed = false;
            queuePair.urgent = false;
        }
        return queuePair;
    }

    /** Removes a queue pair from both lists. */
    void remove(QueuePair queuePair) {
        removeReady(queuePair);
        if (queuePair.heapAt != ABSENT) {
            removeAt(queuePair.heapAt);
        }
    }

    private void removeReady(QueuePair queuePair) {
        if (!queuePair.listed) {
            return;
        }
        int kept = 0;
        for (int i = 0; i < readyCount; i++) {
            QueuePair each = ready[wrapped(firstReady + i)];
            if (each != queuePair) {
                ready[wrapped(firstReady + kept)] = each;
                kept++;
            }
        }
        ready[wrapped(firstReady + kept)] = null;
        readyCount = kept;
        queuePair.listed = false;
        queuePair.urgent = false;
    }

    // ---- deadlines ----

    /** Has a queue pair expire at a time, or a little earlier. */
    void schedule(QueuePair queuePair, long deadline) {
        if (queuePair.heapAt == ABSENT) {
            queuePair.heapDeadline = deadline;
            heapCount++;
            moveUp(heapCount - 1, queuePair);
        } else if (deadline - queuePair.heapDeadline < 0) {
            queuePair.heapDeadline = deadline;
            moveUp(queuePair.heapAt, queuePair);
        }
    }

    /** Whether there is a deadline. */
    public boolean hasDeadline() {
        return heapCount > 0;
    }

    /** The next deadline, if there is one. */
    public long nextDeadline() {
        return at(0).heapDeadline;
    }

    /**
     * Lets deadlines expire that have passed, the earliest first, up to a number. One that ends a
     * queue pair counts as more, by the requests that it completes.
     */
    public void expire(long nowNanos, int limit) {
        int left = limit;
        while (left > 0 && heapCount > 0 && nowNanos - at(0).heapDeadline >= 0) {
            QueuePair queuePair = at(0);
            removeAt(0);
            int before = queuePair.outstanding();
            queuePair.expire(nowNanos);
            left -= 1 + (before - queuePair.outstanding()) / REQUESTS_PER_DEADLINE;
        }
    }

    private void removeAt(int index) {
        at(index).heapAt = ABSENT;
        heapCount--;
        QueuePair last = at(heapCount);
        heap[heapCount] = null;
        if (index < heapCount) {
            moveUp(index, last);
            moveDown(last.heapAt, last);
        }
    }

    private void moveUp(int from, QueuePair queuePair) {
        int index = from;
        while (index > 0 && isEarlier(queuePair, at((index - 1) / 2))) {
            put(index, at((index - 1) / 2));
            index = (index - 1) / 2;
        }
        put(index, queuePair);
    }

    private void moveDown(int from, QueuePair queuePair) {
        int index = from;
        while (2 * index + 1 < heapCount) {
            int child = 2 * index + 1;
            if (child + 1 < heapCount && isEarlier(at(child + 1), at(child))) {
                child++;
            }
            if (!isEarlier(at(child), queuePair)) {
                break;
            }
            put(index, at(child));
            index = child;
        }
        put(index, queuePair);
    }

    private void put(int index, QueuePair queuePair) {
        heap[index] = queuePair;
        queuePair.heapAt = index;
    }

    private QueuePair at(int index) {
        QueuePair queuePair = heap[index];
        if (queuePair == null) {
            throw new IllegalStateException(
                    "heap of deadlines has a hole: index=" + index + ", count=" + heapCount);
        }
        return queuePair;
    }

    private static boolean isEarlier(QueuePair one, QueuePair other) {
        return one.heapDeadline - other.heapDeadline < 0;
    }
}
