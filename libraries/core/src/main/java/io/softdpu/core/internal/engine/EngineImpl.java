package io.softdpu.core.internal.engine;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.check.Threads;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.internal.wait.AdaptiveWait;
import io.softdpu.core.internal.wait.Waitable;
import io.softdpu.core.spi.graph.CallbackFailures;
import io.softdpu.core.spi.graph.EngineMember;
import io.softdpu.core.spi.graph.GraphEngine;
import io.softdpu.fabric.engine.ProgressScope;
import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.EngineEvents;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Mailbox;
import io.softdpu.linux.text.Text;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Implementation of {@code ProgressEngine}, for its users and for the contexts.
 *
 * <p>Belongs to the thread that created it or has taken it over, except for {@link #wake()}, {@link
 * #execute}, the mailbox and the counters. Polling allocates nothing, takes no lock and makes no
 * system call.
 */
@SuppressWarnings("ReferenceEquality") // threads are compared by identity
public final class EngineImpl implements GraphEngine, Waitable {
    /** Longest single sleep, an hour; a longer wait has several. */
    private static final long MAX_SLEEP_NANOS = 3_600_000_000_000L;

    /** Contexts that a message describes. */
    private static final int MAX_DESCRIBED = 8;

    /** Created first: if the environment's seed is refused nothing has been opened yet. */
    private final @Nullable CompletionShuffler shuffler = CompletionShuffler.ofCurrent();

    /** Changed by a thread for itself alone, so each thread sees whether it is the owner. */
    private Thread owner = Thread.currentThread();

    private final PostedWork posted = new PostedWork();
    private final EventPoller poller = new EventPoller();
    private final Mailbox mailbox = new Mailbox(poller);
    private final Copier copier = new Copier();
    private final CallbackFailures failures = new CallbackFailures();
    private final EngineMembers members = new EngineMembers(failures);
    private final EngineCounters counters = new EngineCounters();
    private final AdaptiveWait adaptiveWait;
    private final BooleanSupplier denial = this::progressing;

    /** Null until the first descriptor or timer. */
    private @Nullable EngineEvents events;

    private boolean progressing;

    /** What was before a callback outside of a pass. */
    private @Nullable Object callbackScope;

    /** Whether the wait is that of a close, which an interrupt does not end. */
    private boolean closing;

    private boolean selective = true;

    /** Whether a notification is requested and not yet signalled by this thread. */
    private boolean requested;

    private boolean closed;

    /** Changes of the state of contexts. */
    private long stateChanges;

    private volatile boolean woken;

    /** An engine of the calling thread, without contexts. */
    public EngineImpl(AdaptiveWait adaptiveWait) {
        this.adaptiveWait = adaptiveWait;
        WaitPermission.deny(denial);
    }

    // ---- for the user ----

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
            progressed |= runPosted();
            if (events != null && progress(events)) {
                progressed = true;
                members.selectAll(); // a context may check deadlines in its own progress
            }
            progressed |= members.progress();
            if (shuffler != null) {
                progressed |= shuffler.deliver();
            }
        } finally {
            ProgressScope.end(scope);
            progressing = false;
            members.closeGaps();
        }
        counters.passed(progressed);
        if (!progressed) {
            members.selectAll(); // further polls include all contexts again
        }
        failures.throwKept();
        return progressed;
    }

    /**
     * See {@code ProgressEngine.await}.
     *
     * @throws DpuException CONNECTION_ABORTED if the thread is interrupted
     */
    public boolean await(long timeoutNanos) {
        if (awaitOrInterrupt(timeoutNanos)) {
            return true;
        }
        if (timeoutNanos != 0 && Interrupts.isPending()) {
            throw Interrupts.ended("ProgressEngine.await", "awaited=work, " + describeAllWork());
        }
        return false;
    }

    /** The same, but returns false if the thread is interrupted: for waits that say why. */
    public boolean awaitOrInterrupt(long timeoutNanos) {
        requireOwner();
        return adaptiveWait.await(this, timeoutNanos);
    }

    /** The same for the close of a context, which an interrupt does not end. */
    public boolean awaitUninterrupted(long timeoutNanos) {
        requireOwner();
        boolean before = closing;
        closing = true;
        try {
            return adaptiveWait.await(this, timeoutNanos);
        } finally {
            closing = before;
        }
    }

    /** See {@code ProgressEngine.requestNotification}. */
    public void requestNotification() {
        requireOwner();
        requireOpen();
        EngineMember polled = members.firstWithoutEvents();
        if (polled != null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "%s does not support event mode: %s=%s, engineThread=%s",
                            polled.kind(),
                            polled.kind(),
                            polled.describe(),
                            Threads.describe(owner)));
        }
        members.selectAll();
        boolean ready = arm(); // may create the events
        if (events != null) {
            request(events);
        }
        requested = !ready;
        if (ready) {
            poller.wake();
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
        poller.clear();
        if (events != null) {
            events.clear();
        }
        if (selective) {
            // Later work is found when the next notification is requested. Work in the
            // mailbox may be for any context.
            members.select(mailbox.isEmpty() && posted.isEmpty() && shuffler == null);
        }
        disarm();
    }

    /** See {@code ProgressEngine.setEventMode}. */
    public void setSelective(boolean selective) {
        requireOwner();
        requireOpen();
        List<EngineMember> active = members.active();
        if (!active.isEmpty()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "event mode is set before %s are started: %s, engineThread=%s",
                            EngineMembers.describeKinds(active),
                            EngineMembers.describeCounts(active),
                            Threads.describe(owner)));
        }
        this.selective = selective;
    }

    /** Whether progress after a notification is limited to contexts that have work. */
    public boolean isSelective() {
        return selective;
    }

    /** See {@code ProgressEngine.awaitNotification}. */
    public boolean awaitNotification(long timeoutNanos) {
        requireOwner();
        requireOutside("awaitNotification");
        requireOpen();
        if (!isNotificationInterrupted(timeoutNanos)
                && poller.sleep(Math.min(timeoutNanos, MAX_SLEEP_NANOS))) {
            woken = false;
            return true;
        }
        if (isNotificationInterrupted(timeoutNanos)) {
            throw Interrupts.ended(
                    "ProgressEngine.awaitNotification",
                    "awaited=a notification, requested=" + requested + ", " + describeAllWork());
        }
        return false;
    }

    /** Whether an interrupt ends the wait for a notification: what is pending stays so. */
    private static boolean isNotificationInterrupted(long timeoutNanos) {
        return timeoutNanos != 0 && Interrupts.isPending();
    }

    /** Closes the engine, unless it is closed already. */
    public void close() {
        if (closed) {
            return;
        }
        requireOwner();
        if (progressing) {
            throw new DpuException(
                    Status.IN_USE,
                    "engine closed from inside a callback: thread=" + Threads.describe(owner));
        }
        List<EngineMember> active = members.active();
        if (!active.isEmpty()) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "%s are started on the engine: %s, first=%s",
                            EngineMembers.describeKinds(active),
                            EngineMembers.describeCounts(active),
                            active.getFirst().describe()));
        }
        closed = true; // before the last work, which cannot start anything any more
        runLastPosted();
        WaitPermission.lift(denial);
        adaptiveWait.closeAffinity();
        mailbox.close();
        if (events != null) {
            events.close();
        }
        poller.close();
        failures.throwKept();
    }

    /** See {@code ProgressEngine.execute}; any thread. */
    public void execute(Runnable work) {
        switch (posted.offer(work)) {
            case ACCEPTED -> poller.wake();
            case FULL ->
                    throw new DpuException(
                            Status.FULL,
                            Text.format(
                                    "too much work waits for the engine: waiting=%d, limit=%d,"
                                            + " engineThread=%s, expected=progress of the engine",
                                    posted.size(), PostedWork.CAPACITY, Threads.describe(owner)));
            case CLOSED ->
                    throw new DpuException(
                            Status.SHUTDOWN,
                            Text.format(
                                    "engine was closed and executes no more work: thread=%s,"
                                            + " engineThread=%s, expected=an engine that is open",
                                    Threads.current(), Threads.describe(owner)));
        }
    }

    /** See {@code ProgressEngine.takeOver}; any thread. */
    public synchronized void takeOver() {
        requireOpen();
        Thread current = Thread.currentThread();
        if (current == owner) {
            return;
        }
        Threads.requirePlatform("an engine");
        if (owner.isAlive()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "engine belongs to a thread that has not ended: thread=%s,"
                                    + " engineThread=%s, expected=ProgressEngine.execute, or a call"
                                    + " after Thread.join",
                            Threads.current(), Threads.describe(owner)));
        }
        requireOpen(); // what the ended thread has done, as a close, is visible from isAlive on
        owner = current;
        adaptiveWait.dropAffinity();
        WaitPermission.deny(denial);
    }

    /** Ends the current wait, or the next one. Any thread. */
    public void wake() {
        woken = true;
        poller.wake();
    }

    @Override
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
        return members.inFlight();
    }

    // ---- for the contexts and graphs ----

    @Override
    public void connect(EngineMember member) {
        members.add(member);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** The work of contexts that are started, as a text for messages. */
    public String describeAllWork() {
        List<String> described = members.describeWork(MAX_DESCRIBED);
        return described.isEmpty() ? "contexts=0" : String.join("; ", described);
    }

    /** Whether the start or stop of any context waits for a peer. */
    public boolean awaitsEvents() {
        return members.awaitsEvents();
    }

    @Override
    public void disconnect(EngineMember member) {
        members.remove(member);
        if (!progressing) {
            members.closeGaps();
        }
    }

    /**
     * Descriptors and deadlines; created at the first use, so that an engine without any has no
     * cost for them.
     */
    public EngineEvents events() {
        EngineEvents present = events;
        if (present == null) {
            try {
                present = new EngineEvents(poller);
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

    /** The poller in which the engine sleeps, for the doorbells of its contexts. */
    public EventPoller poller() {
        return poller;
    }

    /** Work that other threads post to this one; any thread posts. */
    public Mailbox mailbox() {
        return mailbox;
    }

    /** The engine's copier. */
    public Copier copier() {
        return copier;
    }

    /** The sanitizer's shuffler of completions; null if no sanitizer is on. */
    public @Nullable CompletionShuffler shuffler() {
        return shuffler;
    }

    /** Whether progress, or a user node at its submission, is running: the time for callbacks. */
    public boolean progressing() {
        return progressing;
    }

    @Override
    public boolean enterCallback() {
        if (progressing) {
            return false;
        }
        progressing = true;
        callbackScope = ProgressScope.begin();
        return true;
    }

    @Override
    public void leaveCallback() {
        ProgressScope.end(callbackScope);
        progressing = false;
        members.closeGaps();
    }

    /** Signals a requested notification, since there is work for progress. */
    public void ring() {
        if (requested) {
            requested = false; // one is enough
            poller.wake();
        }
    }

    @Override
    public void signalWorkOf(EngineMember member) {
        if (requested && member.arm()) {
            ring();
        }
    }

    /** Reports that a context has changed its state, or that something was returned to it. */
    public void changed() {
        stateChanges++;
        ring();
    }

    @Override
    public long changes() {
        return counters.hits() + stateChanges;
    }

    @Override
    public void callbackFailed(Throwable thrown) {
        failures.add(thrown);
    }

    @Override
    public void requireOwner() {
        if (Thread.currentThread() != owner) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "called from a thread that is not the engine's: thread=%s,"
                                    + " engineThread=%s, expected=%s",
                            Threads.current(),
                            Threads.describe(owner),
                            owner.isAlive()
                                    ? "ProgressEngine.execute"
                                    : "ProgressEngine.takeOver first"));
        }
    }

    /**
     * Refuses a call inside a callback.
     *
     * @param operation the call, for the message
     * @throws DpuException NOT_PERMITTED
     */
    public void requireOutside(String operation) {
        if (progressing) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "%s called from inside a callback: thread=%s",
                            operation, Threads.describe(owner)));
        }
    }

    @Override
    public void requireOpen() {
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE, "engine is closed: engineThread=" + Threads.describe(owner));
        }
    }

    // ---- for the wait ----

    @Override
    public int situation() {
        return members.situation();
    }

    @Override
    public boolean isInterrupted() {
        return !closing && Interrupts.isPending();
    }

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
        ready |= shuffler != null && shuffler.mustNotSleep();
        return ready || !mailbox.isEmpty() || !posted.isEmpty();
    }

    @Override
    public void disarm() {
        members.disarm();
    }

    @Override
    public void sleep(long timeoutNanos) {
        long limitNanos = Math.min(timeoutNanos, MAX_SLEEP_NANOS);
        long sleepNanos = events == null ? limitNanos : events.untilDeadline(limitNanos);
        boolean _ = closing ? poller.sleepUninterrupted(sleepNanos) : poller.sleep(sleepNanos);
    }

    private boolean drainMailbox() {
        if (mailbox.isEmpty()) {
            return false;
        }
        try {
            mailbox.drain();
        } catch (Throwable e) { // the remaining work of the mailbox runs in the next pass
            callbackFailed(e);
        }
        return true;
    }

    /** Runs the work that was posted before this pass; whether there was any. */
    private boolean runPosted() {
        if (posted.isEmpty()) {
            return false;
        }
        int limit = posted.size();
        for (int i = 0; i < limit; i++) {
            Runnable work = posted.take();
            if (work == null) {
                break;
            }
            run(work);
        }
        return true;
    }

    /** Refuses further work, and runs what was accepted: a thread may wait for it. */
    private void runLastPosted() {
        posted.close();
        progressing = true;
        try {
            while (posted.size() > 0) {
                Runnable work = posted.take();
                if (work == null) {
                    Thread.onSpinWait(); // an offer is about to be complete
                } else {
                    run(work);
                }
            }
        } finally {
            progressing = false;
            members.closeGaps();
        }
    }

    private void run(Runnable work) {
        try {
            work.run();
        } catch (Throwable e) { // as of any callback
            callbackFailed(e);
        }
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
