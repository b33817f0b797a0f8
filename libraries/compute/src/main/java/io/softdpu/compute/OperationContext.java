package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Context whose tasks and jobs are operations on bufs, done in slices inside progress. A task that
 * fails after its submission ends the context; a job fails alone.
 *
 * @param <T> the public type, which setters return
 */
abstract class OperationContext<T extends Context> extends ContextBase<T> {
    /** Limit of work queues of a context. */
    private static final int MAX_WORK_QUEUES = 1024;

    private @Nullable OperationQueue queue;

    OperationContext(String kind, Device device) {
        super(kind, device);
    }

    // ---- of each library ----

    /** Creates the pools of tasks, and the queue of their operations. */
    abstract OperationQueue makePools();

    /** Whether all tasks are in their pools. */
    abstract boolean allFreed();

    /** Drops the pools of tasks. */
    abstract void dropPools();

    // ---- hooks of the base class ----

    @Override
    protected final int maxWorkQueues() {
        return MAX_WORK_QUEUES;
    }

    @Override
    protected final ContextState onStart() {
        if (hasEngine()) {
            try {
                queue = makePools();
            } finally {
                if (queue == null) { // too little memory for the tasks
                    dropPools();
                }
            }
        }
        return ContextState.RUNNING;
    }

    @Override
    protected final boolean onProgress() {
        OperationQueue open = queue();
        // In STOPPING nothing is processed any more: onStop, which follows, flushes.
        if (open.isEmpty() || !takesTasks()) {
            return false;
        }
        BufOperation failed = open.progress(copier());
        if (failed != null) {
            fail(failed);
        }
        return true;
    }

    @Override
    protected final boolean onStop() {
        if (!hasEngine()) {
            return true;
        }
        queue().flush(Status.SHUTDOWN);
        if (!allFreed()) {
            return false;
        }
        dropPools();
        queue = null;
        return true;
    }

    @Override
    protected final boolean onArm() {
        return !queue().isEmpty();
    }

    // ---- for tasks ----

    /** Whether the context is RUNNING on an engine, which may process more. */
    final boolean mayProcessMore() {
        return takesTasks();
    }

    /** Adds the operation of a task, which has begun. */
    final void add(BufOperation operation) {
        queue().add(operation);
    }

    /** Fails the context before the callback runs, so that the callback cannot submit any more. */
    private void fail(BufOperation failed) {
        Status status = failed.status();
        fatal(
                new DpuException(
                        status,
                        Text.format(
                                "%s has failed: context=%s, %s",
                                failed.kind(), this, failed.describe()),
                        failed.cause()));
        failed.end();
        failed.owner().ended(status);
    }

    private OperationQueue queue() {
        return Objects.requireNonNull(queue, "a queue until stopped");
    }
}
