package io.softdpu.storage.worker;

/**
 * Submits tasks in their order, of which a full queue refuses some for now: those are kept, first
 * come, first offered again, and later ones wait behind them. Has room for all tasks, so it cannot
 * overflow; allocates nothing after its construction.
 */
public final class RetryQueue {
    /** Submission of the task with an index. */
    @FunctionalInterface
    public interface Submission {
        /** Returns false where the queue is full, and nothing has happened. */
        boolean trySubmit(int index);
    }

    private final Submission submission;
    private final int[] indices;
    private int head;
    private int size;

    RetryQueue(int capacity, Submission submission) {
        this.submission = submission;
        this.indices = new int[capacity];
    }

    /** Submits a task, or keeps its index if its queue is full or others wait already. */
    public void submit(int index) {
        if (size > 0 || !submission.trySubmit(index)) {
            add(index);
        }
    }

    /** Submits what was refused, as far as there is room. */
    void retry() {
        while (size > 0 && submission.trySubmit(indices[head])) {
            head = head + 1 == indices.length ? 0 : head + 1;
            size--;
        }
    }

    /** Whether nothing waits for room. */
    boolean isEmpty() {
        return size == 0;
    }

    private void add(int index) {
        if (size == indices.length) {
            throw new IllegalStateException("a task was refused twice: index=" + index);
        }
        int tail = head + size;
        indices[tail < indices.length ? tail : tail - indices.length] = index;
        size++;
    }
}
