package io.softdpu.rdma.shm;

import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The receives that a context has posted and no message has used up yet, oldest first; shared by
 * its connections. The engine's thread.
 */
final class ReceiveQueue {
    private final @Nullable WorkRequest[] posted;
    private final int mask;
    private final int capacity;
    private long head;
    private long tail;

    ReceiveQueue(int capacity) {
        this.capacity = capacity;
        int size = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
        this.posted = new @Nullable WorkRequest[size];
        this.mask = size - 1;
    }

    int size() {
        return (int) (tail - head);
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** False if it is full. */
    boolean add(WorkRequest request) {
        if (size() == capacity) {
            return false;
        }
        posted[(int) tail & mask] = request;
        tail++;
        return true;
    }

    /** The oldest receive, which is taken out; null if there is none. */
    @Nullable WorkRequest poll() {
        if (head == tail) {
            return null;
        }
        int index = (int) head & mask;
        WorkRequest request = posted[index];
        posted[index] = null;
        head++;
        return request;
    }
}
