package io.softdpu.storage.worker;

/**
 * FIFO of indices of tasks that a full queue has refused and that are to be submitted again. Has
 * room for all tasks, so it cannot overflow; allocates nothing after its construction.
 */
public final class RetryQueue {
    private final int[] indices;
    private int head;
    private int size;

    /** Room for that many tasks. */
    public RetryQueue(int capacity) {
        indices = new int[capacity];
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Remembers a task. */
    public void add(int index) {
        if (size == indices.length) {
            throw new IllegalStateException("a task was refused twice: index=" + index);
        }
        int tail = head + size;
        indices[tail < indices.length ? tail : tail - indices.length] = index;
        size++;
    }

    /** The oldest task, which stays. */
    public int peek() {
        return indices[head];
    }

    /** Forgets the oldest task. */
    public void remove() {
        head = head + 1 == indices.length ? 0 : head + 1;
        size--;
    }
}
