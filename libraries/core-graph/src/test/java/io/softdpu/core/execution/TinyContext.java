package io.softdpu.core.execution;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.TaskPool;
import org.jspecify.annotations.Nullable;

/**
 * Context with the tasks that the nodes of a graph need: they complete, in the order of submission,
 * when the test says so or, by default, in the next progress.
 */
public final class TinyContext extends ContextBase<Context> {
    boolean completesByItself = true;
    private int queueDepth = 16;
    private int queueCapacity = Integer.MAX_VALUE;
    private @Nullable TaskPool<TinyTask> pool;
    private TinyTask[] queue = new TinyTask[0];
    private int head;
    private int queued;
    private int allowed;

    public TinyContext(Device device) {
        super("tiny", device);
    }

    public TinyContext(Device device, Representor representor) {
        super("tiny behind a representor", device, representor);
    }

    void setQueueDepth(int depth) {
        requireConfigurable();
        queueDepth = depth;
    }

    /** Limits the tasks in flight further, at any time. */
    void setQueueCapacity(int tasks) {
        queueCapacity = tasks;
    }

    TinyTask allocate() {
        requireState(ContextState.RUNNING, "allocate");
        return pool.requireAllocated(pool.tryAllocate());
    }

    /** Lets the next progress complete this many tasks. */
    void allow(int tasks) {
        allowed += tasks;
    }

    void postWork(Runnable work) {
        post(work);
    }

    @Override
    protected void checkConfiguration() {
        // Nothing is mandatory.
    }

    @Override
    protected ContextState onStart() {
        if (pool == null) {
            pool = new TaskPool<>(queueDepth, "setQueueDepth", () -> new TinyTask(this));
        }
        queue = new TinyTask[queueDepth];
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        boolean progressed = false;
        int now = queued; // what a callback submits waits for the next progress
        for (int i = 0; i < now && (completesByItself || allowed > 0); i++) {
            if (!completesByItself) {
                allowed--;
            }
            TinyTask task = take();
            task.finish(task.outcome);
            progressed = true;
        }
        return progressed;
    }

    @Override
    protected boolean onStop() {
        while (queued > 0) {
            take().finish(Status.SHUTDOWN);
        }
        return true;
    }

    @Override
    protected boolean onArm() {
        return queued > 0 && completesByItself;
    }

    @Override
    protected void onDisarm() {
        // Nothing was armed.
    }

    @Override
    protected void onDestroy() {
        // Holds nothing.
    }

    private TinyTask take() {
        TinyTask task = queue[head];
        head = (head + 1) % queue.length;
        queued--;
        return task;
    }

    /** A task with one callback, which is told the task. */
    static final class TinyTask extends TaskBase<Task> {
        private static final Refusal FULL =
                Refusal.ready(Status.AGAIN, () -> "tiny queue is full: queued=all, expected=fewer");

        @Nullable TinyCallback callback;
        boolean valid = true;
        Status outcome = Status.SUCCESS;
        @Nullable TinyObserver observer;

        /** Thrown by the submission. */
        @Nullable Error submissionError;

        private final TinyContext tiny;

        TinyTask(TinyContext context) {
            super(context);
            tiny = context;
        }

        void setCallback(@Nullable TinyCallback callback) {
            requireUser();
            this.callback = callback;
        }

        void finish(Status status) {
            if (observer != null) {
                observer.finished(status);
            }
            complete(status);
        }

        @Override
        protected @Nullable Refusal onSubmit() {
            if (!valid) {
                return Refusal.of(
                        Status.INVALID_VALUE, "task is not valid: valid=false, expected=true");
            }
            if (submissionError != null) {
                throw submissionError;
            }
            if (tiny.queued == Math.min(tiny.queue.length, tiny.queueCapacity)) {
                return FULL;
            }
            tiny.queue[(tiny.head + tiny.queued++) % tiny.queue.length] = this;
            if (observer != null) {
                observer.accepted();
            }
            return null;
        }

        @Override
        protected void onCompleted() {
            if (callback != null) {
                callback.onCompleted(this);
            }
        }

        @Override
        protected void onFree() {
            callback = null;
            valid = true;
            outcome = Status.SUCCESS;
            observer = null;
        }
    }

    /** Told what the library does with a tiny task or job. */
    interface TinyObserver {
        void accepted();

        void finished(Status status);
    }

    /** Callback of a tiny task. */
    @FunctionalInterface
    interface TinyCallback {
        void onCompleted(TinyTask task);
    }
}
