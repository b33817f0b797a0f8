package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.internal.sanitizer.DelayedCompletion;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/** Sanitizer checks of one task. The engine's thread. */
final class TaskChecker extends DelayedCompletion implements TaskInterceptor {
    /** What {@link #refuses} stands for. */
    static final Refusal REFUSAL =
            Refusal.ready(
                    Status.AGAIN,
                    () ->
                            "sanitizer refuses the submission, as a full queue would: sanitizer=on,"
                                    + " expected=another try after a progress");

    private final TaskBase<?> task;
    private final TaskPool<?> pool;
    private final ContextChecker context;
    private @Nullable Throwable allocatedAt;
    private boolean optimizesReports;
    private long sequence;
    private Status ended = Status.SUCCESS;

    TaskChecker(TaskBase<?> task, TaskPool<?> pool, ContextChecker context) {
        this.task = task;
        this.pool = pool;
        this.context = context;
    }

    @Override
    public void handedOut() {
        allocatedAt = SanitizerState.place();
        context.handedOut(this);
    }

    /** Stack trace of the allocation; null while the task is in its pool. */
    @Nullable Throwable allocatedAt() {
        return allocatedAt;
    }

    @SuppressWarnings("ReferenceEquality") // a pool is itself alone
    boolean isOf(TaskPool<?> other) {
        return pool == other;
    }

    /** Whether its user has it: it is neither in flight nor free. */
    boolean isWithUser() {
        return !task.isInFlight();
    }

    @Override
    public void freed() {
        context.freed(this);
    }

    @Override
    public void misused(String what) {
        report(Mistake.TASK_MISUSED, what);
    }

    void report(Mistake kind, String reason) {
        context.shuffler()
                .sanitizer()
                .report(kind, Text.format("%s: %s", reason, task.describe()), allocatedAt);
    }

    /**
     * Whether to refuse a submission with AGAIN. Never while no other task of the type is in
     * flight, and never for receives, which a peer completes: a program that retries at the next
     * completion would wait without end.
     */
    @Override
    public boolean refuses() {
        return pool.checkedInFlight > 0 && !task.completesInOrder() && context.shuffler().refuses();
    }

    @Override
    public void submitted(SubmitFlags flags) {
        optimizesReports = flags.optimizesReports();
        sequence = context.nextSubmission();
        pool.checkedInFlight++;
    }

    @Override
    public void refused() {
        pool.checkedInFlight--;
    }

    /** Delays the completion: its callback runs later, or its node is told later. */
    @Override
    public void completed(Status how) {
        ended = how;
        task.delay();
        context.shuffler().delay(this);
    }

    /** No different: it is delivered later anyway. */
    @Override
    public void completedWithOthers(Status how) {
        completed(how);
    }

    @Override
    public void deliver() {
        pool.checkedInFlight--;
        task.deliverDelayed(ended);
    }

    @Override
    public @Nullable Object orderKey() {
        return task.completesInOrder() ? pool : null;
    }

    @Override
    public boolean mayWait() {
        return optimizesReports;
    }

    @Override
    public Object group() {
        return context;
    }

    @Override
    public long sequence() {
        return sequence;
    }
}
