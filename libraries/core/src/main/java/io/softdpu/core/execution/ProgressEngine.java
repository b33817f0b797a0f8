package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Threads;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.access.ImplementationAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.wait.AdaptiveWait;
import io.softdpu.core.internal.wait.AffinityPolicy;
import io.softdpu.fabric.error.FabricException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Engine that drives contexts: their work is done inside {@link #progress()}, and their callbacks
 * run there and nowhere else (the modern form of the Core guide's WorkQ, section 3.4.3).
 *
 * <p>In polling mode call {@link #progress()} in a loop. {@link #await} does that while there is
 * work and sleeps when there is none; {@link #runUntil}, {@link #start} and {@link #stop} are loops
 * around it that end with an error instead of never. Event mode is for programs with an event loop
 * of their own: {@link #requestNotification()}, wait until {@link #eventHandle()} is readable (or
 * {@link #awaitNotification}), {@link #clearNotification()}, progress until it returns false, and
 * repeat.
 *
 * <p>Thread: an engine belongs to the thread that created it, with its contexts and their tasks. A
 * call from another thread fails with NOT_PERMITTED that names both; {@link #execute}, {@link
 * #wake()}, {@link #owner()} and the counters may be used by any, and {@link #takeOver()} when the
 * thread has ended. It has to be a platform thread: a virtual one would keep its carrier while it
 * waits in the kernel. After the start of its contexts an engine allocates nothing, takes no lock,
 * and makes no system call while it polls; exceptions are changes of {@linkplain CpuBinding#soft
 * soft} affinity, and polls of {@linkplain #watch watched} descriptors.
 *
 * <p>Interrupts: {@link Thread#interrupt} ends each wait at once with CONNECTION_ABORTED, also if
 * the thread was interrupted before. The flag stays set, and the same wait can be repeated. Work
 * that is there is done first, and {@link #progress()} takes no notice. The close of a context
 * still stops it in order, but waits for at most half a second then, and says what is left.
 *
 * <p>Callbacks: {@link #progress()} and {@link #close()} are refused inside one. An exception of a
 * callback does not disturb the engine: the pass of progress continues to its end, and then throws
 * it, with further exceptions of the same pass {@linkplain Throwable#getSuppressed() suppressed} in
 * it. Contexts, tasks and counters are consistent then; the task of the callback belongs to the
 * user, as after any callback, and progress can be called again.
 */
public final class ProgressEngine implements AutoCloseable, Executor {
    static {
        ImplementationAccess.install(ProgressEngine.class, engine -> engine.impl);
    }

    private final EngineImpl impl;

    private ProgressEngine(@Nullable AffinityPolicy affinity) {
        Threads.requirePlatform("an engine");
        try {
            this.impl = new EngineImpl(new AdaptiveWait(affinity));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Creates an engine of the calling thread.
     *
     * @throws DpuException NOT_SUPPORTED on a virtual thread; OPERATING_SYSTEM if the program has
     *     no file descriptors left
     */
    public static ProgressEngine create() {
        return new ProgressEngine(null);
    }

    /**
     * Creates an engine of the calling thread, which it {@linkplain CpuBinding#bindCurrentThread
     * pins}. With {@linkplain CpuBinding#soft soft} affinity {@link #await} unpins the thread while
     * another thread competes for the processor; {@link #close} unpins it finally. Pinning and
     * unpinning take a system call each.
     *
     * @throws DpuException NOT_FOUND if this process may not use that processor; NOT_SUPPORTED on a
     *     virtual thread; OPERATING_SYSTEM if it has no file descriptors left
     */
    public static ProgressEngine create(CpuBinding binding) {
        Arguments.notNull(binding, "binding");
        binding.checkAvailable();
        AffinityPolicy affinity = binding.affinityPolicy();
        ProgressEngine engine = new ProgressEngine(affinity);
        boolean bound = false;
        try {
            binding.bindCurrentThread();
            bound = true;
            return engine;
        } finally {
            if (!bound) {
                engine.close();
            }
        }
    }

    /**
     * Selects the contexts that are progressed after a notification; {@link EventMode#SELECTIVE} by
     * default. {@link #progress()} without notifications, and {@link #await}, always progress all.
     *
     * @throws DpuException BAD_STATE if contexts or graphs are started on it, or it is closed;
     *     NOT_PERMITTED from another thread
     */
    public ProgressEngine setEventMode(EventMode mode) {
        impl.setSelective(Arguments.notNull(mode, "mode") == EventMode.SELECTIVE);
        return this;
    }

    /** The mode that selects contexts after a notification. */
    public EventMode eventMode() {
        return impl.isSelective() ? EventMode.SELECTIVE : EventMode.ALL;
    }

    /**
     * Connects a context, until it is closed. One that is not started does not keep the engine
     * open; on an engine that was closed it cannot be started any more.
     *
     * @throws DpuException BAD_STATE if the context is not IDLE or is closed; NOT_PERMITTED if it
     *     is connected already
     */
    public void connect(Context context) {
        impl.requireOwner();
        impl.requireOpen();
        Arguments.notNull(context, "context");
        ContextAccess.of(Context.class, ProgressEngine.class, Job.class)
                .connect(context, this, impl);
    }

    /**
     * Does the work that can be done now, runs the callbacks of completed tasks, and returns.
     *
     * @return whether any work was done; false means that there is no work at present
     * @throws DpuException NOT_PERMITTED from inside a callback or from another thread; BAD_STATE
     *     if the engine is closed
     */
    public boolean progress() {
        return impl.progress();
    }

    /**
     * Calls progress until work was done, the timeout is over, or {@link #wake()} is called.
     * Without work it spins shortly where that has brought work before, yields for about 100
     * microseconds, then sleeps until an event.
     *
     * @param timeout zero is the same as {@link #progress()}; {@link Deadline#NO_LIMIT} for none.
     *     The spin, at most 64 passes of progress, is not counted
     * @return whether any work was done
     * @throws DpuException INVALID_VALUE if the timeout is negative; CONNECTION_ABORTED if the
     *     thread is interrupted, there is no work, and the timeout is not zero; else as {@link
     *     #progress()}
     */
    public boolean await(Duration timeout) {
        return impl.await(Arguments.nanos(timeout, "timeout"));
    }

    /**
     * The same until a deadline, for loops that wait for something; allocates nothing.
     *
     * @param deadline one that has passed is the same as {@link #progress()}
     * @return whether any work was done
     * @throws DpuException as {@link #await(Duration)}
     */
    public boolean await(Deadline deadline) {
        return impl.await(Arguments.notNull(deadline, "deadline").remainingNanos());
    }

    /**
     * The same until a point in time, without an object per call: for data paths that compute it,
     * such as a paced one.
     *
     * @param nanoTime a time of {@link System#nanoTime()}; one that has passed is the same as
     *     {@link #progress()}
     * @return whether any work was done
     * @throws DpuException as {@link #await(Duration)}
     */
    public boolean awaitUntil(long nanoTime) {
        return impl.await(Math.max(0, nanoTime - System.nanoTime()));
    }

    /**
     * Progresses, as {@link #await} does, until a condition holds.
     *
     * <p>The condition is evaluated first, and again after each pass of progress with work and each
     * {@link #wake()}: one that another thread makes true needs a wake by that thread. The wait
     * allocates nothing.
     *
     * <pre>{@code
     * engine.runUntil(() -> replies == requests, Duration.ofSeconds(5), client, consumer);
     * }</pre>
     *
     * @param condition the awaited condition; wins over the end of a context and of the time. It
     *     may change the program's state, but is not called inside progress
     * @param timeout limit of the wait, {@link Deadline#NO_LIMIT} for none; with 0 it progresses
     *     once
     * @param contexts contexts without which the wait has no point, as that of the peer's
     *     connection: it ends when one of them does. A context that is STARTING counts as running.
     *     All on this engine, since another's failure would not end a sleep of this one
     * @throws DpuException the {@linkplain Context#failure() failure} of one of the contexts, with
     *     its status, and itself as the cause, naming the context; BAD_STATE if one of them has
     *     stopped without a failure or was not started, naming it; TIME_OUT with what the contexts
     *     are doing, or, if none are given, those of this engine; INVALID_VALUE if the timeout is
     *     negative; NOT_PERMITTED from inside a callback, from another thread, or if a context is
     *     connected to another engine or runs on work queues alone; CONNECTION_ABORTED if the
     *     thread is interrupted and the condition does not hold; BAD_STATE if the engine is closed
     */
    public void runUntil(BooleanSupplier condition, Duration timeout, Context... contexts) {
        new ContextWait(impl).runUntil(condition, timeout, contexts);
    }

    /**
     * Starts a context and progresses until it is RUNNING: {@linkplain #connect connects} it unless
     * it is connected to this engine, {@linkplain Context#start() starts} it if it is IDLE, or
     * joins a start under way. Does nothing if it is RUNNING.
     *
     * <p>A context whose start depends on more than its peer's replies has to be started by {@link
     * Context#start()}. An RDMA instance is one: it is STARTING until its first connection, which
     * the program exports and connects meanwhile. This call may follow then, to wait for it: while
     * the instance has one connection, it waits until that is connected, also if the context is
     * RUNNING before.
     *
     * @param timeout limit of the wait, {@link Deadline#NO_LIMIT} for none
     * @throws DpuException as {@link #connect} and {@link Context#start()}; the {@linkplain
     *     Context#failure() failure} of the context, if it fails, with its status, and itself as
     *     the cause; the failure of the last connection of an RDMA instance that does not listen,
     *     and whose connections have all failed before they were established, with its status;
     *     TIME_OUT if it is still STARTING, or not connected, with what it waits for: it remains
     *     so; INVALID_VALUE if the timeout is negative; NOT_PERMITTED from inside a callback or
     *     from another thread; CONNECTION_ABORTED if the thread is interrupted: it remains
     *     STARTING; BAD_STATE if the engine is closed
     */
    public void start(Context context, Duration timeout) {
        new ContextWait(impl).start(this, context, timeout);
    }

    /**
     * Stops a context and progresses until it is IDLE: {@linkplain Context#stop() stops} it, or
     * joins a stop under way. Does nothing if it is IDLE.
     *
     * @param timeout limit of the wait, {@link Deadline#NO_LIMIT} for none
     * @throws DpuException as {@link Context#stop()}; TIME_OUT if it is still STOPPING, with what
     *     keeps it so, such as tasks that were not freed: it remains so; INVALID_VALUE if the
     *     timeout is negative; NOT_PERMITTED from inside a callback, from another thread, or if the
     *     context is not connected to this engine; CONNECTION_ABORTED if the thread is interrupted:
     *     it remains STOPPING; BAD_STATE if the engine is closed
     */
    public void stop(Context context, Duration timeout) {
        new ContextWait(impl).stop(context, timeout);
    }

    /**
     * Watches a file descriptor of the program, so that the engine can also wait for sockets. The
     * callback runs inside {@link #progress()} while the descriptor is ready (level-triggered),
     * {@link #await} sleeps until it is, and the {@linkplain #eventHandle event handle} becomes
     * readable for it as for other work. An engine with other work in each progress polls its
     * descriptors every 50 microseconds.
     *
     * @param descriptor an open descriptor; it stays the program's
     * @param interest {@link DescriptorWatch#READABLE}, {@link DescriptorWatch#WRITABLE} and {@link
     *     DescriptorWatch#PEER_CLOSED}, or-ed; 0 for errors and hang-ups only, which are always
     *     reported
     * @param callback called while it is ready
     * @return the watch; to be closed before the descriptor is
     * @throws DpuException INVALID_VALUE if the descriptor is negative or the interest has other
     *     bits; NOT_FOUND if the descriptor is not open; IN_USE if it is watched already;
     *     NOT_SUPPORTED if it cannot be watched, such as a regular file; OPERATING_SYSTEM if the
     *     limit of watches is reached; NOT_PERMITTED from another thread; BAD_STATE if the engine
     *     is closed
     */
    public DescriptorWatch watch(int descriptor, int interest, DescriptorCallback callback) {
        impl.requireOwner();
        impl.requireOpen();
        Arguments.notNull(callback, "callback");
        return new DescriptorWatch(impl, descriptor, interest, callback);
    }

    /**
     * Creates a timer that is not set. {@link #await} sleeps until the nearest deadline at most,
     * and never ends early for one; the {@linkplain #eventHandle event handle} becomes readable
     * then. While a timer is set each progress reads the clock.
     *
     * @param callback runs inside {@link #progress()} after each deadline
     * @return the timer; the engine references it only while it is set
     * @throws DpuException OPERATING_SYSTEM if the program has no file descriptors left, the first
     *     time; NOT_PERMITTED from another thread; BAD_STATE if the engine is closed
     */
    public EngineTimer timer(Runnable callback) {
        impl.requireOwner();
        impl.requireOpen();
        return new EngineTimer(impl, Arguments.notNull(callback, "callback"));
    }

    /**
     * Executes work inside {@link #progress()}, on the engine's thread, in the order of the calls;
     * a wait of the engine ends for it. What the work throws is thrown as the exception of a
     * callback is. Any thread, the engine's and virtual ones too; allocates nothing. As an {@link
     * Executor} the engine makes a future of a call in one step:
     *
     * <pre>{@code
     * CompletableFuture<ContextState> state = CompletableFuture.supplyAsync(dma::state, engine);
     * }</pre>
     *
     * @param work runs once, at the latest in {@link #close()}
     * @throws DpuException SHUTDOWN after {@link #close()}; FULL if 1024 pieces of work wait for
     *     progress; INVALID_VALUE if the work is null
     */
    @Override
    public void execute(Runnable work) {
        impl.execute(Arguments.notNull(work, "work"));
    }

    /**
     * Makes the calling thread the owner of an engine whose thread has ended, with its contexts,
     * tasks, watches and timers; does nothing if it is the owner. A {@linkplain CpuBinding binding}
     * ended with the thread: {@link CpuBinding#bindCurrentThread()} binds this one. Halves of sync
     * events, work queues and confined memory belong to the ended thread still.
     *
     * @throws DpuException NOT_PERMITTED if the engine's thread has not ended: {@link Thread#join}
     *     it first; NOT_SUPPORTED on a virtual thread; BAD_STATE if the engine is closed
     */
    public void takeOver() {
        impl.takeOver();
    }

    /**
     * Ends the current {@link #await}, or the next one if none is running; it then returns false
     * unless work was done. Also ends {@link #awaitNotification}, which then returns true. Any
     * thread.
     */
    public void wake() {
        impl.wake();
    }

    /**
     * A descriptor for poll, select or epoll, constant for the engine's life: readable when there
     * is work after {@link #requestNotification()}; also when the timeout of an {@link #await} that
     * ended before would have ended, once. It belongs to the engine.
     *
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the engine is closed:
     *     the number may have been reused
     */
    public int eventHandle() {
        impl.requireOwner();
        impl.requireOpen();
        return impl.poller().handle();
    }

    /**
     * Requests one notification. If there is work already the handle is readable at once. Each
     * notification must be requested.
     *
     * @throws DpuException NOT_SUPPORTED if a context does not {@linkplain
     *     Context#isEventDrivenSupported() support} it, naming it; NOT_PERMITTED from another
     *     thread; BAD_STATE if the engine is closed
     */
    public void requestNotification() {
        impl.requestNotification();
    }

    /**
     * Clears the notification: the handle is not readable until the next one is requested. Call
     * progress after this, not before; it progresses the contexts selected by the {@linkplain
     * #setEventMode event mode}.
     *
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the engine is closed
     */
    public void clearNotification() {
        impl.clearNotification();
    }

    /**
     * Sleeps until the {@linkplain #eventHandle handle} is readable, as poll(2) on it would: for
     * programs in event mode that have no event loop of their own. That is after the {@linkplain
     * #requestNotification requested} notification, or after {@link #wake()}, which this clears.
     * Makes no progress.
     *
     * @param timeout zero only polls; {@link Deadline#NO_LIMIT} for none
     * @return whether it was readable
     * @throws DpuException INVALID_VALUE if the timeout is negative; NOT_PERMITTED from another
     *     thread or from inside a callback; CONNECTION_ABORTED if the thread is interrupted and the
     *     timeout is not zero: the notification stays; BAD_STATE if the engine is closed
     */
    public boolean awaitNotification(Duration timeout) {
        return impl.awaitNotification(Arguments.nanos(timeout, "timeout"));
    }

    /**
     * Number of tasks of all contexts, and of instances of graphs, submitted and not yet completed.
     * Any thread.
     */
    public int inFlightTasks() {
        return impl.inFlight();
    }

    /** Number of passes of progress with work. Any thread. */
    public long hits() {
        return impl.hits();
    }

    /** Number of passes of progress without work. Any thread. */
    public long misses() {
        return impl.misses();
    }

    /**
     * Payload bytes that this engine has copied, or the kernel for it, to or from its cache of
     * files. Any thread.
     */
    public long payloadBytesCopied() {
        return impl.copier().payloadBytes();
    }

    /** Message bytes that this engine has copied. Any thread. */
    public long messageBytesCopied() {
        return impl.copier().messageBytes();
    }

    /** The thread that it belongs to. Any thread. */
    public Thread owner() {
        return impl.owner();
    }

    /**
     * Closes the engine, with its watches and timers, after it has run the work of {@link
     * #execute}; closing twice does nothing. An exception of that work is thrown when it is closed.
     *
     * @throws DpuException IN_USE while contexts or graphs are started on it, or from inside a
     *     callback
     */
    @Override
    public void close() {
        impl.close();
    }
}
