package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.execution.Task;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.linux.text.Text;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the contexts of all libraries: state machine ({@link ContextStates}), engine
 * binding and count of tasks in flight ({@link ContextEngine}), work queues ({@link
 * ContextJobQueues}).
 *
 * <p>A library's context is a package-private class that extends this one and implements the
 * library's public interface, so that its users see neither the hooks nor the services:
 *
 * <pre>{@code
 * public sealed interface Sha extends Context permits ShaContext {
 *     static Sha create(Device device) {
 *         return new ShaContext(device);
 *     }
 *
 *     ShaTask allocateHash(Buf source, Buf destination);
 * }
 *
 * final class ShaContext extends ContextBase<Sha> implements Sha { ... }
 * }</pre>
 *
 * <p>The library implements the hooks {@link #checkConfiguration}, {@link #onStart}, {@link
 * #onProgress}, {@link #onStop}, {@link #onArm}, {@link #onDisarm}, {@link #onDestroy}. All are
 * called on the engine's thread; those that may run users' callbacks are called only inside
 * progress.
 *
 * <p>A library calls a user inside {@code try ... catch (Throwable t) { callbackFailed(t); }}, with
 * its own state consistent before the call, so that a callback may throw, stop or close the
 * context.
 *
 * @param <T> the library's public interface, which setters return, as in {@link TaskBase}
 */
public abstract class ContextBase<T extends Context> implements Context {
    static {
        ContextAccess.install(new ContextEngine.Access());
    }

    /** Numbers the contexts of this process, so that messages tell those of one kind apart. */
    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    private static final long DEFAULT_STOP_WARNING_NANOS = 1_000_000_000L;

    private final String name;
    private final Device device;
    private final @Nullable Representor representor;

    private long userData;
    private @Nullable Object userObject;

    // What keeps device and representor open, from start to IDLE.
    private Dependents.@Nullable Dependency onDevice;
    private Dependents.@Nullable Dependency onRepresentor;

    private final ContextStates states;
    private final ContextEngine engine;
    private final TaskSubmissions submissions;
    private final ContextJobQueues jobQueues;

    /**
     * Creates a context in IDLE. From its start until it is IDLE the device cannot be closed.
     *
     * @param kind its kind, for messages, in which a number follows it: {@code comch server storage
     *     #2}. The first context of this process, of whatever kind, is number 1
     * @param device its device
     * @throws DpuException BAD_STATE if the device is closed
     */
    protected ContextBase(String kind, Device device) {
        this(kind, "", device, null);
    }

    /**
     * Creates a context in IDLE that belongs to another object. From its start until it is IDLE the
     * device cannot be closed.
     *
     * @param kind its kind, for messages
     * @param owner the other object, which follows kind and number in messages: {@code comch
     *     producer #3 of ...}
     * @param device its device
     * @throws DpuException BAD_STATE if the device is closed
     */
    protected ContextBase(String kind, String owner, Device device) {
        this(kind, owner, device, null);
    }

    /**
     * Creates a context in IDLE on a device, for the function of a representor. From its start
     * until it is IDLE neither can be closed.
     *
     * @throws DpuException BAD_STATE if one of them is closed
     */
    protected ContextBase(String kind, Device device, Representor representor) {
        this(kind, "", device, Arguments.notNull(representor, "representor"));
    }

    @SuppressWarnings("this-escape") // the parts keep the context and do nothing with it yet
    private ContextBase(
            String kind, String owner, Device device, @Nullable Representor representor) {
        Arguments.notNull(kind, "kind");
        Arguments.notNull(owner, "owner");
        String numbered = kind + " #" + LAST_NUMBER.incrementAndGet();
        this.name = owner.isEmpty() ? numbered : numbered + " of " + owner;
        this.device = Arguments.notNull(device, "device");
        this.representor = representor;
        DependentsAccess.of(Device.class, device).requireOpen();
        if (representor != null) {
            DependentsAccess.of(Representor.class, representor).requireOpen();
        }
        this.engine = new ContextEngine(this);
        this.submissions = new TaskSubmissions(engine);
        this.jobQueues = new ContextJobQueues(this);
        this.states = new ContextStates(this, engine, jobQueues);
    }

    // ---- hooks of the library ----

    /**
     * Refuses to start without a mandatory item.
     *
     * @throws DpuException BAD_STATE naming the item
     */
    protected abstract void checkConfiguration();

    /**
     * Creates the pools and begins the work. Runs no callback. If it throws the context stays IDLE;
     * it must release its resources before.
     *
     * @return RUNNING if tasks can be submitted now, STARTING if {@link #started()} is called later
     */
    protected abstract ContextState onStart();

    /**
     * Does pending work, in STARTING, RUNNING and STOPPING; inside progress.
     *
     * @return whether any work was done
     */
    protected abstract boolean onProgress();

    /**
     * Refuses a stop by the user while the context has dependents. The default does nothing; not
     * called when the context fails.
     *
     * @throws DpuException IN_USE naming the dependents: the context does not change
     */
    protected void checkStop() {}

    /**
     * Refuses the close of a context that is not IDLE, for a library whose object is stopped by its
     * user first. The default does nothing: the close stops the context.
     *
     * @throws DpuException IN_USE: the context does not change
     */
    protected void checkCloseOfStarted() {}

    /**
     * Ends the work: accepts no more, completes tasks in flight (with a failure unless done),
     * releases the resources of {@link #onStart}. Called in STOPPING, in each progress after {@link
     * #onProgress}, until it returns true and no task is in flight. The first call may come from
     * {@link #stop()} itself, outside progress, but only while no task is in flight: users'
     * callbacks must not run then, so a library with callbacks to run returns false; see {@link
     * #isProgressing()}.
     *
     * @return true if no work is left
     */
    protected abstract boolean onStop();

    /**
     * Returns the condition that ends a wait of {@code ProgressEngine.start}: RUNNING, the default.
     * Called once per wait, after the start; the condition is evaluated outside progress, also when
     * the context has failed, which ends the wait by itself.
     *
     * @return throws what makes the wait useless, though the context has not failed
     */
    protected BooleanSupplier startWait() {
        return () -> state() == ContextState.RUNNING;
    }

    /**
     * The events that the context waits for in STARTING or STOPPING, other than the end and the
     * freeing of its tasks, for messages: {@code awaited=reply of the peer}. Called in these states
     * only, for any reason that they last, and in RUNNING for a wait of a {@link #startWait} of the
     * library's own.
     *
     * @return {@code key=value}, one or more times, or null for none, the default
     */
    protected @Nullable String describeAwaited() {
        return null;
    }

    /**
     * Time after which a stop that lasts is logged as a warning: one second, unless the library
     * overrides it. A context that waits for a peer returns the time that the peer has; a part of
     * another context returns {@link Long#MAX_VALUE}, since the other's stop is logged.
     */
    protected long stopWarningNanos() {
        return DEFAULT_STOP_WARNING_NANOS;
    }

    /**
     * Requests wake-ups from all sources of work: arms them, then a full fence, then checks for
     * work. Not called in IDLE.
     *
     * @return true if there is work already: do not sleep
     */
    protected abstract boolean onArm();

    /**
     * Cancels {@link #onArm}; not called if the context became IDLE meanwhile. The default does
     * nothing, for a library that requests no wake-up.
     */
    protected void onDisarm() {}

    /**
     * Rings the doorbells for all tasks submitted so far, since one was submitted with FLUSH. The
     * default does nothing, for libraries without doorbells. Called outside progress, or inside a
     * callback.
     */
    protected void onRing() {}

    /**
     * Accepts several tasks in order until one is refused, as {@link TaskBase#onSubmit} of each
     * does, which is the default. A library overrides this where it can share work between them. It
     * reports those that it has accepted by {@link #accepted}, also if it throws.
     *
     * @param tasks tasks of this context, which the library owns until this returns
     * @param from index of the first task
     * @param to index after the last task
     * @return null if all were accepted, else why the first that was not
     */
    protected @Nullable Refusal onSubmitAll(Task[] tasks, int from, int to) {
        for (int i = from; i < to; i++) {
            Refusal refusal =
                    takesTasks() ? ((TaskBase<?>) tasks[i]).onSubmit() : engine.notRunning();
            if (refusal != null) {
                return refusal;
            }
            accepted(1);
        }
        return null;
    }

    /**
     * Releases what is left of the last run. Called once, in IDLE. A context that was never started
     * may be dropped without it, so a constructor acquires nothing. The default does nothing, for a
     * library that releases everything when it stops.
     */
    protected void onDestroy() {}

    /**
     * Limit of work queues of the context, for a library with jobs. With 0, the default, it
     * requires an engine. Otherwise it can also be started without one: {@link #onStart} then
     * creates no tasks, {@link #onProgress}, {@link #onArm} and {@link #onDisarm} are not called,
     * and {@link #onStop} is called on the thread that stops it, when it is on no queue any more.
     * See {@link #hasEngine()}.
     */
    protected int maxWorkQueues() {
        return 0;
    }

    /**
     * Creates the job queue for one work queue. Called in RUNNING, on the queue's thread.
     *
     * @param depth limit of jobs in flight on that queue
     */
    protected JobQueue newJobQueue(int depth) {
        throw new DpuException(Status.NOT_SUPPORTED, "library has no jobs: context=" + name);
    }

    // ---- calls of the user ----

    @Override
    public final Status start() {
        return states.start();
    }

    @Override
    public final Status stop() {
        return states.stop();
    }

    @Override
    public final ContextState state() {
        return states.state();
    }

    @Override
    public final @Nullable DpuException failure() {
        return states.failure();
    }

    @Override
    public final T setStateChangedCallback(@Nullable StateChangedCallback callback) {
        states.setCallback(callback);
        return self();
    }

    @Override
    public final T setDataPathLocation(DataPathLocation location) {
        Arguments.notNull(location, "location");
        requireConfigurable();
        if (location != DataPathLocation.CPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "no such processor for a data path: context=%s, location=%s,"
                                    + " expected=%s",
                            name, location, DataPathLocation.CPU));
        }
        return self();
    }

    @Override
    public final long userData() {
        return userData;
    }

    @Override
    public final T setUserData(long userData) {
        requireConfigurable();
        this.userData = userData;
        return self();
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    @Override
    public final T setUserObject(@Nullable Object userObject) {
        requireConfigurable();
        this.userObject = userObject;
        return self();
    }

    @Override
    public final int trySubmitAll(Task[] tasks, int from, int to) {
        return submissions.trySubmitAll(tasks, from, to);
    }

    @Override
    public final int inFlightTasks() {
        return engine.inFlight();
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
        states.close();
    }

    @Override
    public final int allocatedTasks() {
        return engine.pools().allocated();
    }

    /** Its name with its number, for messages. */
    @Override
    public final String toString() {
        return name;
    }

    // ---- services for the library ----

    /** This context as its users see it, for setters. */
    @SuppressWarnings("unchecked") // a class that can be created implements T
    protected final T self() {
        return (T) this;
    }

    /**
     * Moves from STARTING to RUNNING: tasks can be submitted. Only in STARTING, and inside
     * progress.
     */
    protected final void started() {
        states.started();
    }

    /**
     * Calls the user's callback for the changes of state so far, where the library calls others for
     * later events in the same pass. Inside progress; otherwise the end of the pass does it.
     */
    protected final void deliverStateChanges() {
        states.deliverChanges();
    }

    /**
     * Fails the context: it moves to STOPPING, and {@link #failure()} gives the reason. Does
     * nothing in STOPPING and IDLE.
     */
    protected final void fatal(Status status, String reason) {
        states.fatal(new DpuException(status, reason));
    }

    /** Reports the next tasks of {@link #onSubmitAll} as accepted. */
    protected final void accepted(int count) {
        submissions.accepted(count);
    }

    /**
     * Reports work that a call outside progress has made other than by a task: a notification that
     * was requested before is signalled if progress has something to do.
     */
    protected final void workAdded() {
        engine.workAdded();
    }

    /** Whether a sanitizer checks the tasks of this context, which is on an engine. */
    protected final boolean isSanitized() {
        return engine.checker() != null;
    }

    /**
     * Reports a mistake in the use of a buffer to the sanitizer that checks this context. For what
     * no call can refuse, since it is found when the use ends.
     *
     * @param message description, as {@code reason: key=value, key=value}
     */
    protected final void bufMisused(String message) {
        ContextChecker checker = engine.checker();
        if (checker != null) {
            checker.bufMisused(message);
        }
    }

    /**
     * Counts tasks that were completed by {@link TaskBase#completeWithOthers}; their callback runs
     * next. Only inside progress.
     */
    protected final void completedAll(int count) {
        engine.requireProgressing();
        engine.tasksCompleted(count);
    }

    /** The same as {@link #fatal(Status, String)}, for a failure that is an exception already. */
    protected final void fatal(DpuException reason) {
        states.fatal(reason);
    }

    /** Keeps an exception of a user's callback; progress throws it at the end of this pass. */
    protected final void callbackFailed(Throwable thrown) {
        engine.impl().callbackFailed(thrown);
    }

    /** Posts work to the engine's thread, which runs it in the next progress. Any thread. */
    protected final void post(Runnable work) {
        engine.impl().mailbox().post(work);
    }

    /**
     * Refuses a call from another thread than the engine's; without an engine any thread is
     * allowed.
     *
     * @throws DpuException NOT_PERMITTED naming both threads
     */
    protected final void requireOwnerThread() {
        engine.requireOwner();
    }

    /**
     * Refuses a change of the configuration: from another thread than the engine's, after start,
     * and after close.
     *
     * @throws DpuException NOT_PERMITTED, BAD_STATE
     */
    protected final void requireConfigurable() {
        engine.requireOwner();
        states.requireConfigurable();
    }

    /**
     * Refuses a call in all states but one.
     *
     * @param expected the state that allows it
     * @param call the call, for the message
     * @throws DpuException BAD_STATE
     */
    protected final void requireState(ContextState expected, String call) {
        states.require(expected, call);
    }

    /**
     * Refuses the allocation of a task in another state, on another thread, or without an engine.
     *
     * @param jobs the call of this library for jobs, for the message
     * @throws DpuException BAD_STATE, NOT_PERMITTED
     */
    protected final void requireTasks(String jobs) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocate");
        if (!hasEngine()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "no progress engine is connected, so the context has no tasks:"
                                    + " context=%s, expected=ProgressEngine.connect before its"
                                    + " start, or %s",
                            this, jobs));
        }
    }

    /**
     * Configures a type of tasks, for a setter of the library.
     *
     * @return this context
     * @throws DpuException as {@link #requireConfigurable} and {@link TaskType#configure}
     */
    protected final <C> T configure(TaskType<?, C> type, int count, C onSuccess, C onFailure) {
        requireConfigurable();
        type.configure(count, onSuccess, onFailure);
        return self();
    }

    /** Whether the engine is inside progress: the only time for users' callbacks. */
    protected final boolean isProgressing() {
        return engine.isProgressing();
    }

    /** Whether tasks can be submitted: RUNNING, on an engine. The engine's thread. */
    protected final boolean takesTasks() {
        return engine.takesTasks();
    }

    /** Whether there is an engine, and not work queues. */
    protected final boolean hasEngine() {
        return engine.isConnected();
    }

    /**
     * The engine's copier.
     *
     * @throws DpuException BAD_STATE if there is no engine yet
     */
    protected final Copier copier() {
        return engine.impl().copier();
    }

    /**
     * Services of the engine for other objects of the library, or a provider below it. The same
     * object until the context is closed.
     *
     * @throws DpuException BAD_STATE if there is no engine yet
     */
    protected final ContextServices services() {
        return engine.services();
    }

    /** Whether the user has set a callback for changes of state. */
    protected final boolean hasStateChangedCallback() {
        return states.hasCallback();
    }

    // ---- for the rest of the package ----

    final ContextStates states() {
        return states;
    }

    final ContextEngine engine() {
        return engine;
    }

    final ContextJobQueues jobQueues() {
        return jobQueues;
    }

    /**
     * Keeps device and representor open, from start on. Under the control lock, as {@link #letGo}.
     *
     * @throws DpuException BAD_STATE if one of them is closed
     */
    final void hold() {
        onDevice = DependentsAccess.of(Device.class, device).add(name);
        if (representor != null) {
            onRepresentor = DependentsAccess.of(Representor.class, representor).add(name);
        }
    }

    /** Ends {@link #hold}, also one that has failed halfway. */
    final void letGo() {
        if (onRepresentor != null) {
            onRepresentor.release();
            onRepresentor = null;
        }
        if (onDevice != null) {
            onDevice.release();
            onDevice = null;
        }
    }
}
