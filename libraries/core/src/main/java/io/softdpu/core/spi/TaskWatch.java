package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.internal.sanitizer.HeldTask;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerCore;
import org.jspecify.annotations.Nullable;

/**
 * What a sanitizer knows of a task and does to it. A task without a sanitizer has none, which is
 * all that the data path asks. The engine's thread.
 */
final class TaskWatch extends HeldTask {
    private final TaskBase task;
    private final TaskPool<?> pool;
    private final ContextWatch context;
    private @Nullable Throwable allocatedAt;
    private boolean optimizesReports;
    private long sequence;
    private Status ended = Status.SUCCESS;

    TaskWatch(TaskBase task, TaskPool<?> pool, ContextWatch context) {
        this.task = task;
        this.pool = pool;
        this.context = context;
    }

    void handedOut() {
        allocatedAt = SanitizerCore.place();
        context.handedOut(this);
    }

    void freed() {
        context.freed(this);
    }

    void misused(String what) {
        report(Mistake.TASK_MISUSED, what);
    }

    void report(Mistake kind, String reason) {
        context.disorder()
                .sanitizer()
                .report(kind, "%s: %s".formatted(reason, task.describe()), allocatedAt);
    }

    /**
     * Whether to answer with AGAIN. Never while no other task of the kind is in flight, and never
     * for receives, which a peer completes: whoever tries again at the next completion would wait
     * for ever.
     */
    boolean refuses() {
        return pool.watchedInFlight > 0 && !task.completesInOrder() && context.disorder().refuses();
    }

    void submitted(SubmitFlags flags) {
        optimizesReports = flags.optimizesReports();
        sequence = context.nextSubmission();
        pool.watchedInFlight++;
    }

    void refused() {
        pool.watchedInFlight--;
    }

    /** Runs its callback later. */
    void hold(Status how) {
        ended = how;
        context.disorder().hold(this);
    }

    @Override
    public void deliver() {
        pool.watchedInFlight--;
        task.deliver(ended);
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
