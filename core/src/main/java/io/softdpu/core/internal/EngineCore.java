package io.softdpu.core.internal;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.EngineWaiter;
import io.softdpu.fabric.Mailbox;
import io.softdpu.fabric.PayloadCopy;
import io.softdpu.fabric.ProgressScope;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a progress engine is made of, seen from the contexts as well as from the user's side.
 *
 * <p>Belongs to the thread that made it, except for {@link #wake()}, the mailbox and the counters.
 * Nothing here allocates, locks or calls the system while it polls.
 */
@SuppressWarnings("ReferenceEquality") // threads, contexts and failures are what they are
public final class EngineCore implements WaitStrategy.Waiter {
    private static final VarHandle HITS;
    private static final VarHandle MISSES;
    private static final VarHandle IN_FLIGHT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HITS = lookup.findVarHandle(EngineCore.class, "hits", long.class);
            MISSES = lookup.findVarHandle(EngineCore.class, "misses", long.class);
            IN_FLIGHT = lookup.findVarHandle(EngineCore.class, "inFlight", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** One sleep, of many where the wait is longer: an hour. */
    private static final long MAX_SLEEP_NANOS = 3_600_000_000_000L;

    /** Asked first: where the environment's seed is refused, nothing has been opened yet. */
    private final @Nullable Disorder disorder = Disorder.ofCurrent();

    private final Thread owner = Thread.currentThread();
    private final EngineWaiter waiter = new EngineWaiter();
    private final Mailbox mailbox = new Mailbox(waiter);
    private final PayloadCopy copier = new PayloadCopy();
    private final WaitStrategy waitStrategy;
    private @Nullable EngineMember[] members = new @Nullable EngineMember[8];
    private int slots;
    private int connected;
    private boolean progressing;
    private boolean selective = true;

    /** Between a request for a notification and what rings for it, as far as this thread knows. */
    private boolean requested;

    /** Between a notification and the first pass that finds nothing: only what was selected. */
    private boolean selecting;

    private boolean closed;
    private @Nullable Throwable failure;
    private volatile boolean woken;
    private int inFlight;
    private long hits;
    private long misses;

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
            for (int i = 0; i < slots; i++) { // slots may grow: a callback may connect a context
                EngineMember member = members[i];
                if (member != null && (!selecting || member.selected)) {
                    progressed |= progress(member);
                }
            }
            if (disorder != null) {
                progressed |= disorder.deliver();
            }
        } finally {
            ProgressScope.end(scope);
            progressing = false;
            if (connected < slots) {
                closeGaps();
            }
        }
        if (progressed) {
            HITS.setOpaque(this, hits + 1);
        } else {
            selecting = false; // whoever polls on sees all of them again
            MISSES.setOpaque(this, misses + 1);
        }
        if (failure != null) {
            throwFailure();
        }
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
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null && !member.isEventDrivenSupported()) {
                throw new DpuException(
                        Status.NOT_SUPPORTED,
                        "context does not support event mode: context=%s, engineThread=%s"
                                .formatted(member.describe(), owner.getName()));
            }
        }
        selecting = false;
        requested = !arm();
        if (!requested) {
            waiter.wake();
        }
    }

    /** See {@code ProgressEngine.clearNotification}. */
    public void clearNotification() {
        requireOwner();
        requireOpen();
        requested = false;
        waiter.clear();
        if (selective) {
            select();
        }
        disarm();
    }

    /** See {@code ProgressEngine.setEventMode}. */
    public void setSelective(boolean selective) {
        requireOwner();
        requireOpen();
        if (connected > 0) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "event mode is set before contexts are connected: contexts=%d, engineThread=%s"
                            .formatted(connected, owner.getName()));
        }
        this.selective = selective;
    }

    /** Whether a notification is followed by those contexts alone that have something to do. */
    public boolean isSelective() {
        return selective;
    }

    /**
     * Looks at each context once more, which arming does. What comes later is found when the next
     * notification is requested. Work in the mailbox may be for any of them.
     */
    private void select() {
        selecting = mailbox.isEmpty() && disorder == null;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                member.selected = member.arm();
            }
        }
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
        if (connected > 0) {
            throw new DpuException(
                    Status.IN_USE,
                    "contexts are connected to the engine: contexts=%d, first=%s"
                            .formatted(
                                    connected,
                                    Objects.requireNonNull(members[0], "no gaps").describe()));
        }
        closed = true;
        mailbox.close();
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
        return (long) HITS.getOpaque(this);
    }

    /** Passes of progress that found nothing to do; any thread. */
    public long misses() {
        return (long) MISSES.getOpaque(this);
    }

    /** Tasks submitted and not completed; any thread. */
    public int inFlight() {
        return (int) IN_FLIGHT.getOpaque(this);
    }

    // ---- for the contexts ----

    /** Takes a context in. */
    public void connect(EngineMember member) {
        if (slots == members.length) {
            members = Arrays.copyOf(members, slots * 2);
        }
        members[slots++] = member;
        connected++;
    }

    /** Lets a context go; inside progress its slot stays empty until the pass is over. */
    public void disconnect(EngineMember member) {
        for (int i = 0; i < slots; i++) {
            if (members[i] == member) {
                members[i] = null;
                connected--;
            }
        }
        if (!progressing) {
            closeGaps();
        }
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
    public PayloadCopy copier() {
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
        IN_FLIGHT.setOpaque(this, inFlight + 1);
        if (requested && to.arm()) {
            ring();
        }
    }

    /** One task less is in flight. */
    public void completed() {
        IN_FLIGHT.setOpaque(this, inFlight - 1);
    }

    /**
     * Keeps what a user's callback has thrown until this pass of progress has done the rest of its
     * work; progress throws it then, later ones of the same pass suppressed in it.
     */
    public void callbackFailed(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
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
        boolean ready = false;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                ready |= member.arm();
            }
        }
        VarHandle.fullFence();
        ready |= disorder != null && disorder.restless();
        return ready || !mailbox.isEmpty();
    }

    @Override
    public void disarm() {
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                member.disarm();
            }
        }
    }

    @Override
    public void sleep(long timeoutNanos) {
        waiter.sleep(Math.min(timeoutNanos, MAX_SLEEP_NANOS));
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

    private boolean progress(EngineMember member) {
        try {
            return member.progress();
        } catch (Throwable e) {
            callbackFailed(e);
            return true;
        }
    }

    private void closeGaps() {
        int kept = 0;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            members[i] = null;
            if (member != null) {
                members[kept++] = member;
            }
        }
        slots = kept;
    }

    private void throwFailure() {
        Throwable thrown = Objects.requireNonNull(failure, "failure");
        failure = null;
        switch (thrown) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default ->
                    throw new IllegalStateException("a callback threw a checked exception", thrown);
        }
    }
}
