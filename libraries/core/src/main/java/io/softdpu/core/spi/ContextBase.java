package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.access.UsageAccess;
import io.softdpu.core.internal.base.Usage;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the contexts of all libraries: state machine ({@link ContextStates}), engine
 * binding and count of tasks in flight ({@link ContextEngine}), work queues ({@link ContextLanes}).
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
 * final class ShaContext extends ContextBase implements Sha { ... }
 * }</pre>
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
    static {
        ContextAccess.install(new ContextEngine.Access());
    }

    private final String name;
    private final Device device;
    private final Usage.Hold onDevice;
    private Usage.@Nullable Hold onRepresentor;
    private final ContextStates states;
    private final ContextEngine engine;
    private final ContextLanes lanes;

    /**
     * A context in IDLE. The device cannot be closed before it.
     *
     * @param name what messages call it: {@code comch server storage}
     * @param device the device that it works on
     */
    @SuppressWarnings("this-escape") // the parts keep the context and do nothing with it yet
    protected ContextBase(String name, Device device) {
        this.name = Arguments.notNull(name, "name");
        this.device = Arguments.notNull(device, "device");
        this.onDevice = UsageAccess.of(Device.class, device).hold(name);
        this.engine = new ContextEngine(this);
        this.lanes = new ContextLanes(this);
        this.states = new ContextStates(this, engine, lanes);
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
    public final void setStateChangedCallback(@Nullable StateChangedCallback callback) {
        states.setCallback(callback);
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

    /** The name that messages call it by. */
    @Override
    public final String toString() {
        return name;
    }

    // ---- what the library may ask for ----

    /** STARTING is over: tasks can be submitted. Only in STARTING, and inside progress. */
    protected final void started() {
        states.started();
    }

    /**
     * The context cannot go on: it moves to STOPPING by itself, and {@link #failure()} says why.
     * Does nothing in STOPPING and IDLE: it is ending already.
     */
    protected final void fatal(Status status, String reason) {
        states.fatal(new DpuException(status, reason));
    }

    /** The same as {@link #fatal(Status, String)}, for a failure that is an exception already. */
    protected final void fatal(DpuException reason) {
        states.fatal(reason);
    }

    /** Keeps what a user's callback threw; progress throws it when this pass is over. */
    protected final void callbackFailed(Throwable thrown) {
        engine.core().callbackFailed(thrown);
    }

    /** Leaves work for the engine's thread; it runs in the engine's next progress. Any thread. */
    protected final void post(Runnable work) {
        engine.core().mailbox().post(work);
    }

    /**
     * Refuses a call from another thread than the engine's; any thread will do while there is none.
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
     * Refuses what only one state allows.
     *
     * @param expected the state that allows it
     * @param call what was asked for, for the message
     * @throws DpuException BAD_STATE
     */
    protected final void requireState(ContextState expected, String call) {
        states.require(expected, call);
    }

    /** Whether the engine is inside progress: the only time for users' callbacks. */
    protected final boolean isProgressing() {
        return engine.isProgressing();
    }

    /** Whether there is an engine, and not work queues. */
    protected final boolean hasEngine() {
        return engine.isConnected();
    }

    /**
     * The one object through which this context copies.
     *
     * @throws DpuException BAD_STATE if there is no engine yet
     */
    protected final Copier copier() {
        return engine.core().copier();
    }

    /**
     * What of the engine other objects of the library need, or a provider below it, which is no
     * context. The same object until the context is closed.
     *
     * @throws DpuException BAD_STATE if there is no engine yet
     */
    protected final ContextServices services() {
        return engine.services();
    }

    /** Whether the user wants to hear of changes of state. */
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

    final ContextLanes lanes() {
        return lanes;
    }

    /** Gives up what the context has held since its creation; once, in IDLE. */
    final void destroy() {
        onDestroy();
        if (onRepresentor != null) {
            onRepresentor.release();
        }
        onDevice.release();
    }
}
