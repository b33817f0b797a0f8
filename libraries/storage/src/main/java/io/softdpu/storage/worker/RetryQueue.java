package io.softdpu.storage.worker;

/**
 * Queue of task submissions that were rejected because a work queue was full. They are retried in
 * order, and later submissions wait for them. Has capacity for all tasks, so it cannot overflow;
 * allocates nothing after construction.
 */
public final class RetryQueue {
    /** Submission of the task with an index. */
    @FunctionalInterface
    public interface Submission {
        /** Submits; returns false, without effect, if the work queue is full. */
        boolean trySubmit(int index);
    }

    private final Submission submission;
    private final Counter refused;
    private final int[] indices;
    private int head;
    private int size;

    /**
     * Creates an empty queue.
     *
     * @param refused counts the tasks that had to wait for room
     */
    RetryQueue(int capacity, Submission submission, Counter refused) {
        this.refused = refused;
        this.submission = submission;
        this.indices = new int[capacity];
    }

    /** Submits a task, or queues its index if the work queue is full or others are queued. */
    public void submit(int index) {
        if (size > 0 || !submission.trySubmit(index)) {
            add(index);
        }
    }

    /** Retries queued submissions, up to the first that is rejected again. */
    void retry() {
        while (size > 0 && submission.trySubmit(indices[head])) {
            head = head + 1 == indices.length ? 0 : head + 1;
            size--;
        }
    }

    /** Whether no submission is queued. */
    boolean isEmpty() {
        return size == 0;
    }

    private void add(int index) {
        if (size == indices.length) {
            throw new IllegalStateException("a task was refused twice: index=" + index);
        }
        refused.add(1);
        int tail = head + size;
        indices[tail < indices.length ? tail : tail - indices.length] = index;
        size++;
    }
}
