package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.TaskPool;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Minimal context: its tasks complete, in the order of submission, when the test says so or, by
 * default, in the next progress.
 */
public final class TinyContext extends ContextBase<Context> {
    /** Calls of the library's hooks, in order. */
    final List<String> calls = new ArrayList<>();

    boolean startsAtOnce = true;
    boolean completesByItself = true;
    boolean drained = true;
    boolean workBeforeSleep;
    boolean recording = true;
    boolean inhabited;
    boolean ordered;

    /** Whether it stays STOPPING until its tasks are freed, as the libraries do. */
    boolean waitsForTasks;

    @Nullable String awaited;
    int passes;
    boolean eventDriven = true;
    @Nullable RuntimeException defect;
    @Nullable DpuException failingStart;
    @Nullable DpuException refusedClose;
    @Nullable TinyTask failsToSubmit;
    private boolean mandatory = true;
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

    void setMandatory(boolean given) {
        requireOwnerThread();
        requireConfigurable();
        mandatory = given;
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

    /** Submits a task that frees itself; holds when it has completed. */
    BooleanSupplier submitOne() {
        boolean[] done = {false};
        TinyTask task = allocate();
        task.setCallback(t -> {
            done[0] = true;
            t.free();
        });
        task.submit();
        return () -> done[0];
    }

    TaskPool<TinyTask> pool() {
        return pool;
    }

    /** Lets the next progress complete this many tasks. */
    void allow(int tasks) {
        allowed += tasks;
    }

    void establish() {
        post(this::started);
    }

    void establishNow() {
        started();
    }

    void breakDown(Status status, String reason) {
        fatal(status, reason);
    }

    void postWork(Runnable work) {
        post(work);
    }

    ContextServices ownServices() {
        return services();
    }

    boolean hasCallback() {
        return hasStateChangedCallback();
    }

    boolean progressing() {
        return isProgressing();
    }

    @Override
    protected void checkConfiguration() {
        if (!mandatory) {
            throw new DpuException(
                    Status.BAD_STATE, "mandatory item is missing: item=mandatory, context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        calls.add("start");
        if (failingStart != null) {
            throw failingStart;
        }
        if (pool == null) {
            pool = new TaskPool<>(queueDepth, "setQueueDepth", () -> new TinyTask(this));
        }
        queue = new TinyTask[queueDepth];
        return startsAtOnce ? ContextState.RUNNING : ContextState.STARTING;
    }

    @Override
    protected boolean onProgress() {
        if (defect != null) {
            throw defect;
        }
        passes++;
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
    protected void checkCloseOfStarted() {
        if (refusedClose != null) {
            throw refusedClose;
        }
    }

    @Override
    protected void checkStop() {
        if (inhabited) {
            throw new DpuException(Status.IN_USE, "something lives on it: context=" + this);
        }
    }

    @Override
    protected boolean onStop() {
        if (recording) {
            calls.add(isProgressing() ? "stop inside progress" : "stop");
        }
        while (queued > 0) {
            take().finish(Status.SHUTDOWN);
        }
        return drained && (!waitsForTasks || pool.allFreed());
    }

    @Override
    protected @Nullable String describeAwaited() {
        return awaited;
    }

    @Override
    protected boolean onArm() {
        if (recording) {
            calls.add("arm");
        }
        return workBeforeSleep || (queued > 0 && completesByItself);
    }

    @Override
    protected void onDisarm() {
        if (recording) {
            calls.add("disarm");
        }
    }

    @Override
    protected void onRing() {
        calls.add("ring for " + queued);
    }

    @Override
    public boolean isEventDrivenSupported() {
        return eventDriven;
    }

    @Override
    protected void onDestroy() {
        calls.add("destroy");
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
            complete(status);
        }

        @Override
        protected @Nullable Refusal onSubmit() {
            if (!valid) {
                return Refusal.of(
                        Status.INVALID_VALUE, "task is not valid: valid=false, expected=true");
            }
            if (tiny.failsToSubmit == this) {
                throw new IllegalStateException("defect of the library");
            }
            if (tiny.queued == Math.min(tiny.queue.length, tiny.queueCapacity)) {
                return FULL;
            }
            tiny.queue[(tiny.head + tiny.queued++) % tiny.queue.length] = this;
            return null;
        }

        @Override
        protected void onCompleted() {
            if (callback != null) {
                callback.onCompleted(this);
            }
        }

        @Override
        protected boolean completesInOrder() {
            return tiny.ordered;
        }

        @Override
        protected void onFree() {
            callback = null;
            valid = true;
            outcome = Status.SUCCESS;
        }
    }

    /** Callback of a tiny task. */
    @FunctionalInterface
    interface TinyCallback {
        void onCompleted(TinyTask task);
    }
}
