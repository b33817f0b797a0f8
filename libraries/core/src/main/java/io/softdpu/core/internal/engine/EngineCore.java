package io.softdpu.core.internal.engine;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.sanitizer.Disorder;
import io.softdpu.core.internal.wait.WaitStrategy;
import io.softdpu.core.internal.wait.Waitable;
import io.softdpu.fabric.engine.ProgressScope;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.EngineEvents;
import io.softdpu.fabric.link.EngineWaiter;
import io.softdpu.fabric.link.Mailbox;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a progress engine is made of, seen from the contexts as well as from the user's side.
 *
 * <p>Belongs to the thread that made it, except for {@link #wake()}, the mailbox and the counters.
 * Nothing here allocates, locks or calls the system while it polls.
 */
@SuppressWarnings("ReferenceEquality") // threads are what they are
public final class EngineCore implements Waitable {
    /** One sleep, of many where the wait is longer: an hour. */
    private static final long MAX_SLEEP_NANOS = 3_600_000_000_000L;

    /** Asked first: where the environment's seed is refused, nothing has been opened yet. */
    private final @Nullable Disorder disorder = Disorder.ofCurrent();

    private final Thread owner = Thread.currentThread();
    private final EngineWaiter waiter = new EngineWaiter();
    private final Mailbox mailbox = new Mailbox(waiter);
    private final Copier copier = new Copier();
    private final CallbackFailures failures = new CallbackFailures();
    private final EngineMembers members = new EngineMembers(failures);
    private final EngineCounters counters = new EngineCounters();
    private final WaitStrategy waitStrategy;

    /** Null as long as there was neither a descriptor nor a timer. */
    private @Nullable EngineEvents events;

    private boolean progressing;
    private boolean selective = true;

    /** Between a request for a notification and what rings for it, as far as this thread knows. */
    private boolean requested;

    private boolean closed;
    private volatile boolean woken;

    /** An engine of the calling thread, without contexts. */
    public EngineCore(WaitStrategy waitStrategy) {
        this.waitStrategy = waitStrategy;
    }

    // ---- the engine's face ----

    @Override
    public boolean progress() {
        requireOwner();
        requireOutside("progress");
        requireOpen();
        progressing = true;
        Object scope = ProgressScope.begin();
        boolean progressed = false;
        try {
            progressed = drainMailbox();
            if (events != null && progress(events)) {
                progressed = true;
                members.selectAll(); // a context may look at the time in its own progress
            }
            progressed |= members.progress();
            if (disorder != null) {
                progressed |= disorder.deliver();
            }
        } finally {
            ProgressScope.end(scope);
            progressing = false;
            members.closeGaps();
        }
        counters.passed(progressed);
        if (!progressed) {
            members.selectAll(); // whoever polls on sees all of them again
        }
        failures.throwKept();
        return progressed;
    }

    /** See {@code ProgressEngine.await}. */
    public boolean await(long timeoutNanos) {
        requireOwner();
        return waitStrategy.await(this, timeoutNanos);
    }

    /** See {@code ProgressEngine.awaitSoon}. */
    public boolean awaitSoon(long timeoutNanos) {
        requireOwner();
        return waitStrategy.awaitSoon(this, timeoutNanos);
    }

    /** See {@code ProgressEngine.requestNotification}. */
    public void requestNotification() {
        requireOwner();
        requireOpen();
        EngineMember polled = members.firstWithoutEvents();
        if (polled != null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "context does not support event mode: context=%s, engineThread=%s"
                            .formatted(polled.describe(), owner.getName()));
        }
        members.selectAll();
        if (events != null) {
            request(events);
        }
        requested = !arm();
        if (!requested) {
            waiter.wake();
        }
    }

    private static void request(EngineEvents events) {
        try {
            events.request();
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** See {@code ProgressEngine.clearNotification}. */
    public void clearNotification() {
        requireOwner();
        requireOpen();
        requested = false;
        waiter.clear();
        if (events != null) {
            events.clear();
        }
        if (selective) {
            // What comes later is found when the next notification is requested. Work in the
            // mailbox may be for any of them.
            members.select(mailbox.isEmpty() && disorder == null);
        }
        disarm();
    }

    /** See {@code ProgressEngine.setEventMode}. */
    public void setSelective(boolean selective) {
        requireOwner();
        requireOpen();
        if (members.count() > 0) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "event mode is set before contexts are connected: contexts=%d, engineThread=%s"
                            .formatted(members.count(), owner.getName()));
        }
        this.selective = selective;
    }

    /** Whether a notification is followed by those contexts alone that have something to do. */
    public boolean isSelective() {
        return selective;
    }

    /** See {@code ProgressEngine.awaitNotification}. */
    public boolean awaitNotification(long timeoutNanos) {
        requireOwner();
        requireOutside("awaitNotification");
        requireOpen();
        boolean readable = waiter.sleep(Math.min(timeoutNanos, MAX_SLEEP_NANOS));
        if (readable) {
            woken = false;
        }
        return readable;
    }

    /** Ends the engine; false if it has ended already. */
    public boolean close() {
        if (closed) {
            return false;
        }
        requireOwner();
        if (progressing) {
            throw new DpuException(
                    Status.IN_USE,
                    "engine closed from inside a callback: thread=" + owner.getName());
        }
        EngineMember first = members.first();
        if (first != null) {
            throw new DpuException(
                    Status.IN_USE,
                    "contexts are connected to the engine: contexts=%d, first=%s"
                            .formatted(members.count(), first.describe()));
        }
        closed = true;
        mailbox.close();
        if (events != null) {
            events.close();
        }
        waiter.close();
        return true;
    }

    /** Ends a wait now, or the next one. Any thread. */
    public void wake() {
        woken = true;
        waiter.wake();
    }

    /** The thread that made the engine. */
    public Thread owner() {
        return owner;
    }

    /** Passes of progress that did something; any thread. */
    public long hits() {
        return counters.hits();
    }

    /** Passes of progress that found nothing to do; any thread. */
    public long misses() {
        return counters.misses();
    }

    /** Tasks submitted and not completed; any thread. */
    public int inFlight() {
        return counters.inFlight();
    }

    // ---- for the contexts ----

    /** Takes a context in. */
    public void connect(EngineMember member) {
        members.add(member);
    }

    /** Lets a context go; inside progress its slot stays empty until the pass is over. */
    public void disconnect(EngineMember member) {
        members.remove(member);
        if (!progressing) {
            members.closeGaps();
        }
    }

    /**
     * Descriptors and deadlines; made when they are asked for the first time, so that an engine
     * without any pays nothing for them.
     */
    public EngineEvents events() {
        EngineEvents present = events;
        if (present == null) {
            try {
                present = new EngineEvents(waiter);
            } catch (FabricException e) {
                throw FabricFailures.from(e);
            }
            if (requested) {
                try {
                    request(present);
                } catch (DpuException e) {
                    present.close();
                    throw e;
                }
            }
            events = present;
        }
        return present;
    }

    /** Where the engine sleeps, for the doorbells of its contexts. */
    public EngineWaiter waiter() {
        return waiter;
    }

    /** What other threads leave for this one; any thread posts. */
    public Mailbox mailbox() {
        return mailbox;
    }

    /** The engine's copier. */
    public Copier copier() {
        return copier;
    }

    /** What a sanitizer does to completions; null where none is on. */
    public @Nullable Disorder disorder() {
        return disorder;
    }

    /** Whether a progress is going on: the time for callbacks. */
    public boolean progressing() {
        return progressing;
    }

    /** Something has come that only progress does: rings where a notification was requested. */
    public void ring() {
        if (requested) {
            requested = false; // one is enough
            waiter.wake();
        }
    }

    /**
     * One task more is in flight. A program in event mode may submit between its request and its
     * sleep, and nobody else rings where it is progress that goes on with the task.
     */
    public void submitted(EngineMember to) {
        counters.addInFlight(1);
        if (requested && to.arm()) {
            ring();
        }
    }

    /** One task less is in flight. */
    public void completed() {
        counters.addInFlight(-1);
    }

    /**
     * Keeps what a user's callback has thrown until this pass of progress has done the rest of its
     * work; progress throws it then, later ones of the same pass suppressed in it.
     */
    public void callbackFailed(Throwable thrown) {
        failures.add(thrown);
    }

    /**
     * Refuses a call from any thread but the engine's.
     *
     * @throws DpuException NOT_PERMITTED naming both threads
     */
    public void requireOwner() {
        if (Thread.currentThread() != owner) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "called from a thread that is not the engine's: thread=%s, engineThread=%s"
                            .formatted(Thread.currentThread().getName(), owner.getName()));
        }
    }

    private void requireOutside(String operation) {
        if (progressing) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "%s called from inside a callback: thread=%s"
                            .formatted(operation, owner.getName()));
        }
    }

    /**
     * Refuses a call on an engine that is closed.
     *
     * @throws DpuException BAD_STATE
     */
    public void requireOpen() {
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE, "engine is closed: engineThread=" + owner.getName());
        }
    }

    // ---- for the wait strategy ----

    @Override
    public boolean takeWake() {
        if (!woken) {
            return false;
        }
        woken = false;
        return true;
    }

    @Override
    public boolean arm() {
        boolean ready = members.arm();
        if (events != null) {
            events.arm();
        }
        VarHandle.fullFence();
        ready |= disorder != null && disorder.restless();
        return ready || !mailbox.isEmpty();
    }

    @Override
    public void disarm() {
        members.disarm();
    }

    @Override
    public void sleep(long timeoutNanos) {
        long limitNanos = Math.min(timeoutNanos, MAX_SLEEP_NANOS);
        waiter.sleep(events == null ? limitNanos : events.untilDeadline(limitNanos));
    }

    private boolean drainMailbox() {
        if (mailbox.isEmpty()) {
            return false;
        }
        try {
            mailbox.drain();
        } catch (Throwable e) { // what is left in the mailbox runs in the next pass
            callbackFailed(e);
        }
        return true;
    }

    private boolean progress(EngineEvents present) {
        try {
            return present.progress();
        } catch (Throwable e) { // of handlers, all of which have run
            callbackFailed(e);
            return true;
        }
    }
}
