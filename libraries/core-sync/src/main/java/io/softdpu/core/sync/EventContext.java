package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.core.spi.JobQueue;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.TaskType;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.linux.text.Text;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventContext}: its tasks, and those in flight on its engine. */
final class EventContext extends ContextBase<SyncEventContext> implements SyncEventContext {
    /** Limit of work queues of a context. */
    private static final int MAX_WORK_QUEUES = 1024;

    final TaskType<GetTask, SyncEventTaskCallback<SyncEventGetTask>> getTasks;
    final TaskType<SetTask, SyncEventTaskCallback<SyncEventSetTask>> setTasks;
    final TaskType<AddTask, SyncEventTaskCallback<SyncEventAddTask>> addTasks;
    private final List<TaskType<WaitTask, SyncEventTaskCallback<SyncEventWaitTask>>> waitTasks;
    private final List<TaskType<? extends TaskBase<?>, ?>> allTasks;

    private final SyncEvent event;
    private final SyncEventCapabilities capabilities;

    /** The counter, from start to stop. */
    private @Nullable EventHandle handle;

    /** What the context has on an engine, from start to stop. */
    private @Nullable OnEngine onEngine;

    EventContext(SyncEvent event, Device device) {
        super("sync event context", event.toString(), device);
        this.event = event;
        this.capabilities = SyncEventCapabilities.of(device.info());
        int most = capabilities.maxTasks();
        getTasks = new TaskType<>("get", "setGetTasks", most, () -> new GetTask(this));
        setTasks = new TaskType<>("set", "setSetTasks", most, () -> new SetTask(this));
        addTasks = new TaskType<>("add", "setAddTasks", most, () -> new AddTask(this));
        waitTasks =
                List.of(
                        waitType("wait greater", "setWaitGreaterTasks", WaitCondition.GREATER),
                        waitType("wait equal", "setWaitEqualTasks", WaitCondition.EQUAL),
                        waitType(
                                "wait not equal", "setWaitNotEqualTasks", WaitCondition.NOT_EQUAL));
        allTasks =
                List.of(
                        getTasks,
                        setTasks,
                        addTasks,
                        waitTasks(WaitCondition.GREATER),
                        waitTasks(WaitCondition.EQUAL),
                        waitTasks(WaitCondition.NOT_EQUAL));
    }

    private TaskType<WaitTask, SyncEventTaskCallback<SyncEventWaitTask>> waitType(
            String type, String setter, WaitCondition condition) {
        return new TaskType<>(
                type, setter, capabilities.maxWaitTasks(), () -> new WaitTask(this, condition));
    }

    /** The wait tasks with this condition. */
    TaskType<WaitTask, SyncEventTaskCallback<SyncEventWaitTask>> waitTasks(
            WaitCondition condition) {
        return waitTasks.get(
                switch (condition) {
                    case GREATER -> 0;
                    case EQUAL -> 1;
                    case NOT_EQUAL -> 2;
                });
    }

    // ---- configuration ----

    @Override
    public SyncEvent event() {
        return event;
    }

    @Override
    public SyncEventCapabilities capabilities() {
        return capabilities;
    }

    /** See {@link SyncEventContext#setGetTasks}. */
    <T extends Task> SyncEventContext configureOperations(
            TaskType<?, SyncEventTaskCallback<T>> type,
            int count,
            SyncEventTaskCallback<T> onSuccess,
            SyncEventTaskCallback<T> onFailure) {
        return configure(type, count, onSuccess, onFailure);
    }

    /** See {@link SyncEventContext#setWaitGreaterTasks}. */
    SyncEventContext configureWaits(
            WaitCondition condition,
            int count,
            SyncEventTaskCallback<SyncEventWaitTask> onSuccess,
            SyncEventTaskCallback<SyncEventWaitTask> onFailure) {
        requireConfigurable();
        requireWaitSupported();
        return configure(waitTasks(condition), count, onSuccess, onFailure);
    }

    void requireWaitSupported() {
        if (!capabilities.isWaitTaskSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device has no asynchronous wait: device=%s, limit=0, expected=get"
                                    + " tasks or get jobs, compared with the threshold",
                            device()));
        }
    }

    // ---- tasks and jobs of the user ----

    /** A task of a type; null if all are allocated. */
    <V extends TaskBase<?>> @Nullable V tryAllocate(TaskType<V, ?> type) {
        requireTasks("a job");
        return type.tryAllocate();
    }

    /** A wait task; null if all are allocated. */
    @Nullable SyncEventWaitTask tryAllocateWait(
            WaitCondition condition, long threshold, long mask) {
        requireTasks("a job");
        long checked = PendingWait.requireMask(mask);
        WaitTask task = waitTasks(condition).tryAllocate();
        return task == null ? null : task.setThreshold(threshold).setMask(checked);
    }

    // ---- hooks of the base class ----

    @Override
    protected int maxWorkQueues() {
        return MAX_WORK_QUEUES;
    }

    @Override
    protected JobQueue newJobQueue(int depth) {
        return new EventJobQueue(this, Objects.requireNonNull(handle, "is running"), depth);
    }

    @Override
    protected void checkConfiguration() {
        event.requireStartable();
        if (hasEngine() && allTasks.stream().noneMatch(TaskType::isConfigured)) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=tasks of any type, context=%s,"
                                    + " expected=setGetTasks or another of its kind, before start",
                            this));
        }
    }

    @Override
    protected ContextState onStart() {
        EventHandle begun = event.beginAsynchronous();
        boolean started = false;
        try {
            if (hasEngine()) {
                allTasks.forEach(TaskType::makePool);
                onEngine = new OnEngine(begun, services());
            }
            handle = begun;
            started = true;
            return ContextState.RUNNING;
        } finally {
            if (!started) { // too little memory for the tasks: fewer may be configured
                allTasks.forEach(TaskType::dropPool);
                event.abandonAsynchronous();
            }
        }
    }

    @Override
    protected boolean onProgress() {
        OnEngine open = onEngine();
        // In STOPPING nothing is done any more: onStop, which follows, flushes.
        return takesTasks() && open.progress();
    }

    @Override
    protected boolean onStop() {
        OnEngine open = onEngine;
        if (open != null) {
            DpuException reason = failure();
            open.flush(reason == null ? Status.SHUTDOWN : reason.status());
            if (!allTasks.stream().allMatch(TaskType::allFreed)) {
                return false;
            }
            allTasks.forEach(TaskType::dropPool);
            open.end();
            onEngine = null;
        }
        handle = null;
        event.stopped();
        return true;
    }

    @Override
    protected boolean onArm() {
        return onEngine().arm();
    }

    @Override
    protected void onDisarm() {
        onEngine().disarm();
    }

    @Override
    protected void checkCloseOfStarted() {
        throw event.startedStill();
    }

    // ---- for tasks and jobs ----

    /** Accepts a task, or refuses it since the CPU handle has ended. */
    @Nullable Refusal submit(EventTask<?> task) {
        OnEngine open = onEngine();
        Status ended = open.handle.ended();
        if (ended != Status.SUCCESS) {
            return refusal(ended);
        }
        open.add(task);
        return null;
    }

    /** The refusal of an operation of a handle that has ended. */
    Refusal refusal(Status ended) {
        return Refusal.of(ended, "%s", EventHandle.endedText(ended, event));
    }

    private OnEngine onEngine() {
        return Objects.requireNonNull(onEngine, "on an engine until stopped");
    }

    /** Tasks in flight, and the thread of the engine that sleeps until one can continue. */
    private final class OnEngine {
        private final EventHandle handle;
        private final ContextServices services;
        private final FixedQueue<EventTask<?>> operations;
        private final PendingWaits waits;
        private final Sleeper sleeper = new EngineSleeper();
        private final CounterAccess access;
        private boolean armed;

        OnEngine(EventHandle handle, ContextServices services) {
            this.handle = handle;
            this.services = services;
            this.operations =
                    new FixedQueue<>(
                            Math.max(1, getTasks.count() + setTasks.count() + addTasks.count()));
            this.waits = new PendingWaits(waitTasks.stream().mapToInt(TaskType::count).sum());
            handle.sleepers.add(sleeper);
            this.access = handle.newAccess();
        }

        void add(EventTask<?> task) {
            if (task instanceof WaitTask wait) {
                waits.add(wait);
            } else {
                operations.add(task);
            }
        }

        boolean progress() {
            if (operations.isEmpty() && waits.isEmpty()) {
                return false;
            }
            handle.refresh(sleeper);
            Status ended = handle.ended();
            if (ended != Status.SUCCESS) { // before the callbacks, which cannot submit any more
                fatal(ended, EventHandle.endedText(ended, event));
                flush(ended);
                return true;
            }
            // Tasks that a callback submits wait for the next pass.
            int turns = operations.size();
            boolean worked = turns > 0;
            for (; turns > 0 && takesTasks(); turns--) {
                EventTask<?> task = operations.remove();
                task.execute(access);
                task.end(Status.SUCCESS);
            }
            if (!waits.isEmpty() && takesTasks()) {
                worked |= waits.progress(handle.get());
            }
            return worked;
        }

        void flush(Status how) {
            while (!operations.isEmpty()) {
                operations.remove().end(how);
            }
            waits.flush(how);
        }

        boolean arm() {
            if (!operations.isEmpty()) {
                return true;
            }
            if (waits.isEmpty()) {
                sleeper.links.close();
                return false;
            }
            if (waits.hasNew()) {
                return true;
            }
            armed = true;
            return handle.arm(sleeper, waits.seen());
        }

        void disarm() {
            if (armed) {
                armed = false;
                handle.disarm(sleeper);
            }
        }

        void end() {
            handle.detach(sleeper);
            handle.remove(access);
        }

        /** The engine's thread. */
        private final class EngineSleeper extends Sleeper {
            @Override
            EventPoller poller() {
                return BusServices.poller(services);
            }

            @Override
            void wake() {
                services.wake();
            }
        }
    }
}
