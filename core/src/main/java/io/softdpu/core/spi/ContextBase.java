package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.access.UsageAccess;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.core.internal.engine.EngineMember;
import io.softdpu.core.internal.engine.QueueCore;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.sanitizer.Disorder;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.engine.PayloadCopy;
import io.softdpu.fabric.link.EngineWaiter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A context without its library: the states, the one place where they change, the engine, the count
 * of tasks in flight, and the rule of threads.
 *
 * <p>The library says what is to be done: {@link #checkConfiguration}, {@link #onStart}, {@link
 * #onProgress}, {@link #onStop}, {@link #onArm}, {@link #onDisarm}, {@link #onDestroy}. All are
 * called on the engine's thread; those that may run users' callbacks only inside progress.
 *
 * <p>A library calls a user inside {@code try ... catch (Throwable t) { callbackFailed(t); }}, with
 * its own state complete before the call, so that a callback that throws, stops or closes the
 * context finds it whole.
 */
public abstract class ContextBase implements Context {
    /** Changes of state whose callbacks may wait for a progress; see {@link #start()}. */
    private static final int MAX_UNDELIVERED = 32;

    static {
        ContextAccess.install(new Access());
    }

    private final String name;
    private final Device device;
    private final Usage.Hold onDevice;
    private Usage.@Nullable Hold onRepresentor;
    private final Member member = new Member();
    private final ArrayDeque<StateChange> undelivered = new ArrayDeque<>();
    private @Nullable ProgressEngine engine;
    private @Nullable EngineCore core;
    private @Nullable StateChangedCallback callback;
    private volatile ContextState state = ContextState.IDLE;
    private volatile @Nullable DpuException failure;

    /** Held where the state changes: without an engine any thread may do that. */
    private final Object control = new Object();

    private final ArrayList<JobLane> lanes = new ArrayList<>();
    private boolean takesTasks;
    private @Nullable ContextWatch watch;
    private int inFlight;
    private boolean stopNoticed = true;
    private boolean armed;
    private boolean closed;

    private record StateChange(
            StateChangedCallback callback, ContextState previous, ContextState next) {}

    /**
     * A context in IDLE. The device cannot be closed before it.
     *
     * @param name what messages call it: {@code comch server storage}
     * @param device the device that it works on
     */
    protected ContextBase(String name, Device device) {
        this.name = Arguments.notNull(name, "name");
        this.device = Arguments.notNull(device, "device");
        this.onDevice = UsageAccess.of(Device.class, device).hold(name);
    }

    /**
     * A context in IDLE that works on a device for the function that a representor stands for.
     * Neither can be closed before it.
     */
    protected ContextBase(String name, Device device, Representor representor) {
        this(name, device);
        try {
            onRepresentor = UsageAccess.of(Representor.class, representor).hold(name);
        } finally {
            if (onRepresentor == null) {
                onDevice.release();
            }
        }
    }

    // ---- what the library does ----

    /**
     * Refuses to start without a mandatory item.
     *
     * @throws DpuException BAD_STATE naming the item
     */
    protected abstract void checkConfiguration();

    /**
     * Makes the pools and begins the work. Runs no callback. If it throws, the context stays IDLE:
     * what was made has to be given up before.
     *
     * @return RUNNING if tasks can be submitted now, STARTING if {@link #started()} will say so
     */
    protected abstract ContextState onStart();

    /**
     * Does the work that there is, in STARTING, RUNNING and STOPPING; inside progress.
     *
     * @return whether anything was done
     */
    protected abstract boolean onProgress();

    /**
     * Refuses a stop that the user asks for while something lives on the context. Does nothing
     * unless the library overrides it, and is not asked when the context stops by itself.
     *
     * @throws DpuException IN_USE naming what lives on it: the context stays as it is
     */
    protected void checkStop() {}

    /**
     * Ends the work: takes no more, completes what is in flight (with a failure unless it is done),
     * gives up what {@link #onStart} made. Called in STOPPING, in each progress after {@link
     * #onProgress}, until it returns true and no task is in flight. The first call may come from
     * {@link #stop()} itself, outside progress, but only while no task is in flight: users'
     * callbacks must not run then, so whoever has some to run returns false; {@link
     * #isProgressing()} tells.
     *
     * @return true if nothing is left to be done
     */
    protected abstract boolean onStop();

    /**
     * Asks all that could bring work to ring: arms, then a full fence, then looks. Not called in
     * IDLE.
     *
     * @return true if there is work already: do not sleep
     */
    protected abstract boolean onArm();

    /** Takes {@link #onArm} back; not called where the context became IDLE meanwhile. */
    protected abstract void onDisarm();

    /**
     * Rings now for all tasks that were submitted so far: a user has submitted one with FLUSH. Does
     * nothing unless overridden: for libraries that ring for nobody. Outside progress, or inside a
     * callback.
     */
    protected void onRing() {}

    /** Gives up what the context has held since its creation. Called once, in IDLE. */
    protected abstract void onDestroy();

    /**
     * How many work queues the context can be added to at once, for a library that knows jobs. With
     * 0, as unless overridden, it needs an engine. Otherwise it can also be started without one:
     * {@link #onStart} then makes no tasks, {@link #onProgress}, {@link #onArm} and {@link
     * #onDisarm} are not called, and {@link #onStop} comes on whichever thread stops it, when it is
     * on no queue any more. {@link #hasEngine()} tells.
     */
    protected int maxWorkQueues() {
        return 0;
    }

    /**
     * Makes what does the context's jobs on one work queue. Called in RUNNING, on the queue's
     * thread.
     *
     * @param depth how many jobs can be in flight on that queue
     */
    protected JobLane newJobLane(int depth) {
        throw new DpuException(Status.NOT_SUPPORTED, "library knows no jobs: context=" + name);
    }

    // ---- what the user calls ----

    @Override
    public final Status start() {
        requireOwnerThread();
        synchronized (control) {
            requireConfigurable();
            requireDriver();
            if (undelivered.size() > MAX_UNDELIVERED) {
                throw badState("too many changes of state without a progress");
            }
            checkConfiguration();
            failure = null;
            ContextState first = onStart();
            transition(first);
            return first == ContextState.RUNNING ? Status.SUCCESS : Status.IN_PROGRESS;
        }
    }

    @Override
    public final Status stop() {
        requireOwnerThread();
        synchronized (control) {
            switch (state) {
                case IDLE, STOPPING -> throw badState("context is not started");
                case STARTING, RUNNING -> {
                    requireNoLanes();
                    checkStop();
                    transition(ContextState.STOPPING);
                }
            }
            if (!isProgressing() && inFlight == 0 && onStop()) {
                transition(ContextState.IDLE);
                return Status.SUCCESS;
            }
            return Status.IN_PROGRESS;
        }
    }

    @Override
    public final ContextState state() {
        return state;
    }

    @Override
    public final @Nullable DpuException failure() {
        return failure;
    }

    @Override
    public final void setStateChangedCallback(@Nullable StateChangedCallback callback) {
        requireOwnerThread();
        synchronized (control) {
            requireConfigurable();
            this.callback = callback;
        }
    }

    @Override
    public final int inFlightTasks() {
        return inFlight;
    }

    /** True unless the library overrides it. */
    @Override
    public boolean isEventDrivenSupported() {
        return true;
    }

    @Override
    public final Device device() {
        return device;
    }

    @Override
    public final void close() {
        if (closed) {
            return;
        }
        requireOwnerThread();
        synchronized (control) {
            closeInControl();
        }
    }

    private void closeInControl() {
        if (closed) {
            return; // by another thread meanwhile
        }
        if (state == ContextState.STARTING || state == ContextState.RUNNING) {
            stop();
        }
        if (watch != null && inFlight == 0) {
            watch.reportLeaks();
        }
        if (state != ContextState.IDLE) {
            throw new DpuException(
                    Status.IN_USE,
                    "context has to be stopped first: context=%s, state=%s, inFlightTasks=%d"
                            .formatted(name, state, inFlight));
        }
        closed = true;
        if (core != null) {
            core.disconnect(member);
        }
        undelivered.clear();
        onDestroy();
        if (onRepresentor != null) {
            onRepresentor.release();
        }
        onDevice.release();
    }

    /** The name that messages call it by. */
    @Override
    public final String toString() {
        return name;
    }

    // ---- what the library may ask for ----

    /** STARTING is over: tasks can be submitted. Only in STARTING, and inside progress. */
    protected final void started() {
        requireProgressing();
        transition(ContextState.RUNNING);
    }

    /**
     * The context cannot go on: it moves to STOPPING by itself, and {@link #failure()} says why.
     * Does nothing in STOPPING and IDLE: it is ending already.
     */
    protected final void fatal(Status status, String reason) {
        fatal(new DpuException(status, reason));
    }

    /** The same as {@link #fatal(Status, String)}, for a failure that is an exception already. */
    protected final void fatal(DpuException reason) {
        requireOwnerThread();
        synchronized (control) {
            switch (state) {
                case IDLE, STOPPING -> {}
                case STARTING, RUNNING -> {
                    failure = reason;
                    transition(ContextState.STOPPING);
                    lanes.forEach(JobLane::wake); // their jobs are to be flushed
                }
            }
        }
    }

    /** Keeps what a user's callback threw; progress throws it when this pass is over. */
    protected final void callbackFailed(Throwable thrown) {
        core().callbackFailed(thrown);
    }

    /** Leaves work for the engine's thread; it runs in the engine's next progress. Any thread. */
    protected final void post(Runnable work) {
        core().mailbox().post(work);
    }

    /**
     * Refuses a call from another thread than the engine's; any thread will do while there is none.
     *
     * @throws DpuException NOT_PERMITTED naming both threads
     */
    protected final void requireOwnerThread() {
        if (core != null) {
            core.requireOwner();
        }
    }

    /**
     * Refuses a change of the configuration after start, and any use after close.
     *
     * @throws DpuException BAD_STATE
     */
    protected final void requireConfigurable() {
        if (closed) {
            throw badState("context is closed");
        }
        if (state != ContextState.IDLE) {
            throw badState("context is started");
        }
    }

    /**
     * Refuses what only one state allows.
     *
     * @param expected the state that allows it
     * @param call what was asked for, for the message
     * @throws DpuException BAD_STATE
     */
    protected final void requireState(ContextState expected, String call) {
        if (state != expected) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "%s needs another state: expected=%s, context=%s, state=%s"
                            .formatted(call, expected, name, state));
        }
    }

    /** Whether the engine is inside progress: the only time for users' callbacks. */
    protected final boolean isProgressing() {
        return core != null && core.progressing();
    }

    /** Whether there is an engine, and not work queues. */
    protected final boolean hasEngine() {
        return core != null;
    }

    /** Whether the context is closed for good. */
    protected final boolean isClosed() {
        return closed;
    }

    /**
     * The engine that the context is connected to.
     *
     * @throws DpuException BAD_STATE if there is none yet
     */
    protected final ProgressEngine engine() {
        if (engine == null) {
            throw badState("context has no progress engine");
        }
        return engine;
    }

    /** Where the engine sleeps: add the links whose doorbells are to wake it. */
    protected final EngineWaiter waiter() {
        return core().waiter();
    }

    /** The one object through which this context copies. */
    protected final PayloadCopy copier() {
        return core().copier();
    }

    /** The same for a library that does not know the bus; makes an object, so once a start. */
    protected final Copier payloadCopier() {
        return new Copier(core().copier());
    }

    /** These, and the engine's events, for a provider below the library, which is no context. */
    protected final ContextServices services() {
        return new ContextServices(engine(), core().waiter(), core().copier(), core().mailbox());
    }

    /** Whether the user wants to hear of changes of state. */
    protected final boolean hasStateChangedCallback() {
        return callback != null;
    }

    /** The machine's end of the bus. */
    protected final Bus bus() {
        return MachineAccess.of(Machine.class).bus(device.machine());
    }

    // ---- for the tasks ----

    /** Whether tasks can be submitted. */
    final boolean isRunning() {
        return takesTasks;
    }

    /** What a sanitizer knows of this context; null where none is on. */
    final @Nullable ContextWatch watch() {
        Disorder disorder = core == null ? null : core.disorder();
        if (watch == null && disorder != null) {
            watch = new ContextWatch(disorder);
        }
        return watch;
    }

    final void taskSubmitted() {
        inFlight++;
        core().submitted(member);
    }

    final void taskCompleted() {
        inFlight--;
        core().completed();
    }

    /** What a stop may have waited for. */
    final void taskFreed() {
        if (!takesTasks && state == ContextState.STOPPING) {
            stopNoticed = false;
            core().ring();
        }
    }

    final void requireProgressing() {
        if (!isProgressing()) {
            throw new IllegalStateException("only inside progress: context=" + name);
        }
    }

    // ---- for the work queues ----

    private QueueMember<Job> addLane(QueueCore<Job> queue) {
        synchronized (control) {
            if (maxWorkQueues() == 0) {
                throw new DpuException(
                        Status.NOT_SUPPORTED, "library knows no jobs: context=" + name);
            }
            if (core != null) {
                throw badState("context has a progress engine, and so no work queues");
            }
            requireState(ContextState.RUNNING, "adding a work queue");
            if (lanes.size() >= maxWorkQueues()) {
                throw new DpuException(
                        Status.IN_USE,
                        "context is on as many work queues as it can be: context=%s, queues=%d"
                                .formatted(name, lanes.size()));
            }
            JobLane lane = newJobLane(queue.depth());
            lanes.add(lane);
            return lane.attach(queue);
        }
    }

    /** One that has failed is IDLE when the last of its queues has let go of it. */
    final void removeLane(JobLane lane) {
        synchronized (control) {
            lanes.remove(lane);
            if (state == ContextState.STOPPING && lanes.isEmpty() && onStop()) {
                transition(ContextState.IDLE);
            }
        }
    }

    private void requireNoLanes() {
        if (!lanes.isEmpty()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "context is on work queues: context=%s, queues=%d"
                            .formatted(name, lanes.size()));
        }
    }

    // ---- inside ----

    /** Somebody has to make it go on: an engine, or work queues. */
    private void requireDriver() {
        if (core != null) {
            core.requireOpen();
        } else if (maxWorkQueues() == 0) {
            throw badState("context has no progress engine");
        } else if (callback != null) {
            throw badState("callback needs a progress engine, and the context has none");
        }
    }

    /** The one place where the state changes. */
    private void transition(ContextState next) {
        ContextState previous = state;
        if (!previous.mayBecome(next)) {
            throw new IllegalStateException(
                    "no such transition: context=%s, from=%s, to=%s"
                            .formatted(name, previous, next));
        }
        state = next;
        takesTasks = next == ContextState.RUNNING && core != null;
        stopNoticed = next != ContextState.STOPPING;
        if (core != null) {
            core.ring(); // a callback waits for progress, or the work of a start or a stop
        }
        if (callback != null) {
            undelivered.add(new StateChange(callback, previous, next));
        }
    }

    private boolean progressInState() {
        return switch (state) {
            case IDLE -> false;
            case STARTING, RUNNING -> onProgress();
            case STOPPING -> {
                stopNoticed = true;
                boolean progressed = onProgress();
                if (state == ContextState.STOPPING && onStop() && inFlight == 0) {
                    transition(ContextState.IDLE);
                    progressed = true;
                }
                yield progressed;
            }
        };
    }

    private boolean deliverChanges() {
        boolean delivered = false;
        while (!undelivered.isEmpty()) {
            StateChange change = undelivered.remove();
            delivered = true;
            try {
                change.callback().onStateChanged(this, change.previous(), change.next());
            } catch (Throwable e) {
                callbackFailed(e);
            }
        }
        return delivered;
    }

    private EngineCore core() {
        if (core == null) {
            throw badState("context has no progress engine");
        }
        return core;
    }

    private DpuException badState(String reason) {
        return new DpuException(
                Status.BAD_STATE, "%s: context=%s, state=%s".formatted(reason, name, state));
    }

    private EngineMember connect(ProgressEngine newEngine, EngineCore newCore) {
        requireConfigurable();
        if (core != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "context is connected to an engine already: context=%s, engineThread=%s"
                            .formatted(name, core.owner().getName()));
        }
        engine = newEngine;
        core = newCore;
        return member;
    }

    /** This context as its engine sees it. */
    private final class Member extends EngineMember {
        @Override
        public String describe() {
            return name;
        }

        @Override
        public boolean isEventDrivenSupported() {
            return ContextBase.this.isEventDrivenSupported();
        }

        @Override
        public boolean progress() {
            boolean progressed = deliverChanges();
            try {
                progressed |= progressInState();
            } catch (RuntimeException e) {
                // Not a user's callback, which is caught where it is called: the library itself
                // cannot go on, for example because the memory under a copy is gone.
                fatal(Failures.of(e));
                callbackFailed(e);
                progressed = true;
            }
            progressed |= deliverChanges();
            return progressed;
        }

        @Override
        public boolean arm() {
            armed = state != ContextState.IDLE;
            boolean ready = armed && onArm();
            return ready || !undelivered.isEmpty() || !stopNoticed;
        }

        @Override
        public void disarm() {
            // What was armed may be gone: the look between the two may have ended the context.
            if (armed && state != ContextState.IDLE) {
                onDisarm();
            }
            armed = false;
        }
    }

    private static final class Access extends ContextAccess<Context, ProgressEngine, Job> {
        Access() {
            super(Context.class, ProgressEngine.class, Job.class);
        }

        @Override
        public EngineMember connect(Context context, ProgressEngine engine, EngineCore core) {
            if (!(context instanceof ContextBase base)) {
                throw refused(context);
            }
            synchronized (base.control) {
                return base.connect(engine, core);
            }
        }

        @Override
        public QueueMember<Job> addQueue(Context context, QueueCore<Job> queue) {
            if (!(context instanceof ContextBase base)) {
                throw refused(context);
            }
            return base.addLane(queue);
        }
    }
}
