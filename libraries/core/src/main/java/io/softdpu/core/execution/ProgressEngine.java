package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.core.internal.wait.AffinityPolicy;
import io.softdpu.core.internal.wait.SpinYieldSleepWait;
import io.softdpu.core.internal.wait.WaitStrategy;
import io.softdpu.core.internal.wait.YieldSleepWait;
import io.softdpu.fabric.error.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Drives contexts: what they have to do is done inside {@link #progress()}, and their callbacks run
 * there and nowhere else (the modern form of the Core guide's WorkQ, section 3.4.3).
 *
 * <p>Polling mode is calling {@link #progress()} in a loop. {@link #await} does that while there is
 * work and sleeps when there is none. Event mode is for programs with an event loop of their own:
 * {@link #requestNotification()}, wait until {@link #eventHandle()} is readable (or {@link
 * #awaitNotification}), {@link #clearNotification()}, progress until it returns false, and anew.
 *
 * <p>Thread: an engine belongs to the thread that created it, with its contexts and their tasks. A
 * call from another thread fails with NOT_PERMITTED that names both; {@link #wake()}, {@link
 * #owner()} and the counters may be used by any. After the start of its contexts an engine
 * allocates nothing, takes no lock, and makes no system call while it polls; moving to and from a
 * {@linkplain CpuBinding#preferring preferred} processor does, and looking at {@linkplain #watch
 * watched} descriptors.
 *
 * <p>Callbacks: {@link #progress()} and {@link #close()} are refused inside one. What a callback
 * throws does not disturb the engine: the pass of progress goes on to its end, and then throws it
 * (what further callbacks of the same pass threw is {@linkplain Throwable#getSuppressed()
 * suppressed} in it). Contexts, tasks and counters are consistent by then; the task whose callback
 * threw is the user's, as after any callback, and progress can be called again.
 */
public final class ProgressEngine implements AutoCloseable {
    private final EngineCore core;

    /** Closed with the engine. */
    private final @Nullable AffinityPolicy affinity;

    private ProgressEngine(WaitStrategy waitStrategy, @Nullable AffinityPolicy affinity) {
        this.affinity = affinity;
        try {
            this.core = new EngineCore(waitStrategy);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Creates an engine of the calling thread that shares its core with others.
     *
     * @throws DpuException OPERATING_SYSTEM if the program has no file descriptors left
     */
    public static ProgressEngine create() {
        return new ProgressEngine(new YieldSleepWait(null), null);
    }

    /**
     * Creates an engine of the calling thread for a program that knows how many threads poll. Where
     * there are more processors than pollers {@link #await} spins before it yields.
     *
     * @param pollers threads on this computer that poll at the same time as this one, and this one
     * @throws DpuException INVALID_VALUE if that is not positive
     */
    public static ProgressEngine create(int pollers) {
        return create(pollers, CpuBinding.any());
    }

    /**
     * Creates an engine of the calling thread, which it {@linkplain CpuBinding#bindCurrentThread
     * binds}. Where that is to a {@linkplain CpuBinding#preferring preferred} processor, {@link
     * #await} yields from the beginning, and lets go of it while somebody else computes there;
     * {@link #close} lets go of it for good. Moving there and back takes a system call each.
     *
     * @param pollers as for {@link #create(int)}
     * @throws DpuException INVALID_VALUE if the number is not positive; NOT_FOUND if this program
     *     may not use that processor; OPERATING_SYSTEM if it has no file descriptors left
     */
    public static ProgressEngine create(int pollers, CpuBinding binding) {
        Arguments.notNull(binding, "binding");
        if (pollers < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE, "number of pollers is not positive: pollers=" + pollers);
        }
        binding.checkAvailable();
        AffinityPolicy affinity = binding.affinityPolicy();
        ProgressEngine engine = new ProgressEngine(waitStrategy(pollers, affinity), affinity);
        binding.bindCurrentThread();
        return engine;
    }

    private static WaitStrategy waitStrategy(int pollers, @Nullable AffinityPolicy affinity) {
        // A thread that spins does not notice a competitor, which soft affinity needs.
        if (affinity == null && CpuBinding.availableCores() > pollers) {
            return new SpinYieldSleepWait();
        }
        return new YieldSleepWait(affinity);
    }

    /**
     * Chooses which contexts are looked after when a notification was seen; {@link
     * EventMode#SELECTIVE} unless told otherwise. {@link #progress()} without notifications, and
     * {@link #await}, always look after all.
     *
     * @throws DpuException BAD_STATE if contexts are connected or the engine is closed;
     *     NOT_PERMITTED from another thread
     */
    public void setEventMode(EventMode mode) {
        core.setSelective(Arguments.notNull(mode, "mode") == EventMode.SELECTIVE);
    }

    /** Which contexts are looked after when a notification was seen. */
    public EventMode eventMode() {
        return core.isSelective() ? EventMode.SELECTIVE : EventMode.ALL;
    }

    /**
     * Connects a context, for good: it leaves when it is closed.
     *
     * @throws DpuException BAD_STATE if the context is not IDLE or is closed; NOT_PERMITTED if it
     *     is connected already
     */
    public void connect(Context context) {
        core.requireOwner();
        core.requireOpen();
        Arguments.notNull(context, "context");
        core.connect(
                ContextAccess.of(Context.class, ProgressEngine.class, Job.class)
                        .connect(context, this, core));
    }

    /**
     * Does what can be done now, runs the callbacks of what is complete, and returns.
     *
     * @return whether anything was done; false means that there is nothing to do just now
     * @throws DpuException NOT_PERMITTED from inside a callback or from another thread; BAD_STATE
     *     if the engine is closed
     */
    public boolean progress() {
        return core.progress();
    }

    /**
     * Calls progress until something was done, the time is over, or somebody calls {@link #wake()}.
     * Yields for about 100 microseconds of finding nothing, then sleeps until something happens.
     *
     * @param timeoutNanos the longest wait; 0 is the same as {@link #progress()}
     * @return whether anything was done
     * @throws DpuException INVALID_VALUE if the time is negative; else as {@link #progress()}
     */
    public boolean await(long timeoutNanos) {
        requireTimeout(timeoutNanos);
        return core.await(timeoutNanos);
    }

    /**
     * As {@link #await}, for who knows that one message is all that can end the wait, and that its
     * sender has nothing else to do: a relay that has sent its only request on, for one. Calls
     * progress up to 64 times before anything else, in 2 microseconds where there is nothing to do,
     * which saves half a microsecond of a wait for a peer on another processor. Where that is in
     * vain time and again, and where the engine spins anyway, it is {@code await}.
     *
     * @param timeoutNanos the longest wait after these; 0 is the same as {@link #progress()}
     * @return whether anything was done
     * @throws DpuException as {@link #await}
     */
    public boolean awaitSoon(long timeoutNanos) {
        requireTimeout(timeoutNanos);
        return core.awaitSoon(timeoutNanos);
    }

    private static void requireTimeout(long timeoutNanos) {
        if (timeoutNanos < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "timeout is negative: timeoutNanos=" + timeoutNanos);
        }
    }

    /**
     * Watches a file descriptor of the program, so that an engine can be waited in for sockets as
     * well. The callback runs inside {@link #progress()} while the descriptor is ready
     * (level-triggered), {@link #await} sleeps until it is, and the {@linkplain #eventHandle event
     * handle} becomes readable for it as for anything else. An engine that finds other work in each
     * progress looks at its descriptors every 50 microseconds.
     *
     * @param descriptor an open descriptor; it stays the program's
     * @param interest {@link DescriptorWatch#READABLE}, {@link DescriptorWatch#WRITABLE} and {@link
     *     DescriptorWatch#PEER_CLOSED}, or-ed; 0 for errors and hang-ups alone, which are reported
     *     in any case
     * @param callback told when it is ready
     * @return the watch; to be closed before the descriptor is
     * @throws DpuException INVALID_VALUE if the descriptor is negative or the interest has other
     *     bits; NOT_FOUND if the descriptor is not open; IN_USE if it is watched already;
     *     NOT_SUPPORTED if it cannot be watched, as that of a regular file; OPERATING_SYSTEM if the
     *     system has no room for a further watch; NOT_PERMITTED from another thread; BAD_STATE if
     *     the engine is closed
     */
    public DescriptorWatch watch(int descriptor, int interest, DescriptorCallback callback) {
        core.requireOwner();
        core.requireOpen();
        Arguments.notNull(callback, "callback");
        return new DescriptorWatch(core, descriptor, interest, callback);
    }

    /**
     * Makes a timer that is not set. {@link #await} sleeps no longer than until the nearest
     * deadline, and never ends for one before it; the {@linkplain #eventHandle event handle}
     * becomes readable then. While a timer is set each progress reads the clock.
     *
     * @param callback runs inside {@link #progress()} after each deadline
     * @return the timer; the engine keeps no more of it than its deadline
     * @throws DpuException OPERATING_SYSTEM if the program has no file descriptors left, the first
     *     time; NOT_PERMITTED from another thread; BAD_STATE if the engine is closed
     */
    public EngineTimer timer(Runnable callback) {
        core.requireOwner();
        core.requireOpen();
        return new EngineTimer(core, Arguments.notNull(callback, "callback"));
    }

    /**
     * Ends an {@link #await} now, or the next one where none is going on; it then returns false
     * unless it did something. The same for {@link #awaitNotification}, which then returns true.
     * Any thread.
     */
    public void wake() {
        core.wake();
    }

    /**
     * A descriptor for poll, select or epoll, the same through the engine's whole life: readable
     * when something has happened after {@link #requestNotification()}. The engine keeps and closes
     * it.
     *
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the engine is closed:
     *     the number may be another file's by then
     */
    public int eventHandle() {
        core.requireOwner();
        core.requireOpen();
        return core.waiter().handle();
    }

    /**
     * Asks for one notification. If something happened already, the handle is readable at once. It
     * must be asked for anew each time a notification is wanted.
     *
     * @throws DpuException NOT_SUPPORTED if a context {@linkplain Context#isEventDrivenSupported()
     *     cannot be} waited for, naming it; OPERATING_SYSTEM if the engine has timers and the
     *     program no file descriptor left, the first time; NOT_PERMITTED from another thread;
     *     BAD_STATE if the engine is closed
     */
    public void requestNotification() {
        core.requestNotification();
    }

    /**
     * Says that the notification was seen: the handle is not readable any more, and stays so until
     * one is requested anew. Call progress after this, not before; it looks after the contexts that
     * the {@linkplain #setEventMode event mode} says.
     *
     * @throws DpuException NOT_PERMITTED from another thread; BAD_STATE if the engine is closed
     */
    public void clearNotification() {
        core.clearNotification();
    }

    /**
     * Sleeps until the {@linkplain #eventHandle handle} is readable, as poll(2) on it would: for
     * programs in event mode that have no event loop of their own. That is when the {@linkplain
     * #requestNotification requested} notification has come, or after {@link #wake()}, which is
     * taken by this. Progress is not made meanwhile.
     *
     * @param timeoutNanos the longest sleep; 0 only looks
     * @return whether it was readable; it is not any more
     * @throws DpuException INVALID_VALUE if the time is negative; NOT_PERMITTED from another thread
     *     or from inside a callback; BAD_STATE if the engine is closed
     */
    public boolean awaitNotification(long timeoutNanos) {
        if (timeoutNanos < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "timeout is negative: timeoutNanos=" + timeoutNanos);
        }
        return core.awaitNotification(timeoutNanos);
    }

    /** How many tasks of all contexts are submitted and not yet completed. Any thread. */
    public int inFlightTasks() {
        return core.inFlight();
    }

    /** How many passes of progress did something. Any thread. */
    public long hits() {
        return core.hits();
    }

    /** How many passes of progress found nothing to do. Any thread. */
    public long misses() {
        return core.misses();
    }

    /** Payload bytes that this engine has copied. Any thread. */
    public long payloadBytesCopied() {
        return core.copier().payloadBytes();
    }

    /** Message bytes that this engine has copied. Any thread. */
    public long messageBytesCopied() {
        return core.copier().messageBytes();
    }

    /** The thread that it belongs to. Any thread. */
    public Thread owner() {
        return core.owner();
    }

    /**
     * Closes the engine, with its watches and timers; closing twice does nothing.
     *
     * @throws DpuException IN_USE while contexts are connected, or from inside a callback
     */
    @Override
    public void close() {
        if (core.close() && affinity != null) {
            affinity.close();
        }
    }
}
