package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import org.jspecify.annotations.Nullable;

/**
 * Application messages in the peer's receive queue: the length and, if it has one, the task of
 * each, and the index of the ring's release at which it counts as delivered. Tasks complete in
 * order.
 *
 * <p>Belongs to the thread of the connection's engine; allocates nothing after construction.
 */
final class SendWindow {
    private final @Nullable SendTask[] tasks;
    private final int[] lengths;
    private final long[] releasedAt;
    private final int limit;
    private final int mask;
    private int head;
    private int count;

    /** A window for a peer whose receive queue has this length. */
    SendWindow(int receiveQueue) {
        int slots = ChannelLimits.roundUpToPowerOfTwo(receiveQueue);
        this.tasks = new @Nullable SendTask[slots];
        this.lengths = new int[slots];
        this.releasedAt = new long[slots];
        this.limit = receiveQueue;
        this.mask = slots - 1;
    }

    /** Whether the peer's receive queue is full. */
    boolean isFull() {
        return count == limit;
    }

    int messages() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Adds a message that is delivered once the peer has released this many messages. */
    void add(@Nullable SendTask task, int length, long released) {
        int index = (head + count) & mask;
        tasks[index] = task;
        lengths[index] = length;
        releasedAt[index] = released;
        count++;
    }

    /** Whether the oldest message is delivered if the peer has released this many messages. */
    boolean hasDelivered(long released) {
        return count != 0 && releasedAt[head] <= released;
    }

    /** Length of the oldest message, in bytes. Not empty. */
    int firstLength() {
        return lengths[head];
    }

    /** Takes the oldest message, delivered or not: its task, or null. Not empty. */
    @Nullable SendTask take() {
        SendTask task = tasks[head];
        tasks[head] = null;
        head = (head + 1) & mask;
        count--;
        return task;
    }
}
