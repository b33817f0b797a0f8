package io.softdpu.linux.event;

import io.softdpu.linux.Epoll;
import io.softdpu.linux.Errno;
import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Event source of one thread: descriptors, timers, and calls of {@link #wake} from other threads,
 * all served by {@link #poll}.
 *
 * <p>Descriptors are level-triggered: a handler that leaves data unread runs again in the next
 * turn. Within a turn descriptors come first, in the kernel's order, then the timers that are due,
 * in the order of their deadlines. A handler that throws does not affect the others: {@link #poll}
 * throws its exception at the end of the turn, with further ones suppressed in it.
 *
 * <p>Waits end at the nearest deadline, never before it. They use a timerfd: epoll_wait would round
 * to milliseconds, and epoll_pwait2 ends late by the timer slack of the thread, 50 microseconds.
 *
 * <p>Belongs to one thread at a time, with its registrations and timers; {@link #wake} and {@link
 * Registration#unwatch} may be called by any thread.
 */
public final class Poller implements AutoCloseable {
    /** Data can be read, or a connection accepted. */
    public static final int IN = Epoll.IN;

    /** Data can be written. */
    public static final int OUT = Epoll.OUT;

    /** An error is pending; always reported. */
    public static final int ERR = Epoll.ERR;

    /** Both directions have ended; always reported. */
    public static final int HUP = Epoll.HUP;

    /** The peer sends no more. */
    public static final int RDHUP = Epoll.RDHUP;

    private static final int INTERESTS = IN | OUT | ERR | HUP | RDHUP;
    private static final int MAX_EVENTS_PER_POLL = 64;
    private static final int WAKE_SLOT = -1;
    private static final int TIMER_SLOT = -2;

    /** Signals that are pending: what {@link #wake} and {@link #endWait} have sent. */
    private static final int WOKEN = 1;

    private static final int ENDED = 2;

    /** Half of the range of nanoTime, so that differences of deadlines do not overflow. */
    private static final long LONGEST_WAIT_NANOS = Long.MAX_VALUE / 2;

    /** Handler of a ready descriptor. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Called when the descriptor is ready.
         *
         * @param events its events: constants of {@link Poller}, or-ed
         */
        void onReady(int events);
    }

    private final Epoll epoll;
    private final int wakeDescriptor;
    private final AtomicInteger signals = new AtomicInteger();
    private final TimerQueue timers = new TimerQueue();
    private final RegistrationTable registrations = new RegistrationTable();
    private final DeadlineDescriptor descriptor;
    private @Nullable Throwable failure;
    private boolean running;
    private volatile boolean closed;

    /**
     * Creates a poller without registrations.
     *
     * @throws LinuxException if the process has no descriptors left
     */
    public Poller() {
        epoll = new Epoll(MAX_EVENTS_PER_POLL);
        int wake = -1;
        try {
            wake = EventFd.create();
            epoll.add(wake, Epoll.IN, WAKE_SLOT);
            descriptor = new DeadlineDescriptor(epoll, TIMER_SLOT);
        } catch (RuntimeException e) {
            if (wake >= 0) {
                FileDescriptors.close(wake);
            }
            epoll.close();
            throw e;
        }
        wakeDescriptor = wake;
    }

    /**
     * The epoll descriptor, for event loops of the program: readable while a descriptor is ready or
     * a wake is pending; while a timer is due only after {@link #followDeadlines}. Once after a
     * wait that ended before its timeout it is also readable when that timeout would have ended;
     * {@link #poll} clears this.
     *
     * @return the same number until closed; the poller's to close
     */
    public int fd() {
        return epoll.fd();
    }

    // ---- descriptors ----

    /**
     * Watches a descriptor until the registration is removed, which must happen before the
     * descriptor is closed.
     *
     * @param fd an open descriptor that epoll supports; not a regular file
     * @param interest {@link #IN}, {@link #OUT} and {@link #RDHUP}, or-ed; 0 for errors only
     * @param handler runs inside {@link #poll} while the descriptor is ready
     * @return the registration, to change the interest and to end it
     * @throws IllegalStateException if the descriptor is registered already, naming it
     * @throws LinuxException if it cannot be watched, or the limit of epoll watches of this user is
     *     reached
     */
    public Registration add(int fd, int interest, Handler handler) {
        Objects.requireNonNull(handler, "handler");
        requireInterest(fd, interest);
        Registration registration = new Registration(this, fd, registrations.nextKey(), handler);
        try {
            epoll.add(fd, interest, registration.key);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EEXIST) {
                throw new IllegalStateException(
                        "descriptor is registered already: fd=" + fd + ", epollFd=" + epoll.fd(),
                        e);
            }
            throw e;
        }
        registrations.put(registration);
        return registration;
    }

    private static void requireInterest(int fd, int interest) {
        if ((interest & ~INTERESTS) != 0) {
            throw new IllegalArgumentException(
                    Text.format(
                            "interest has unknown bits: fd=%d, interest=0x%x, known=0x%x",
                            fd, interest, INTERESTS));
        }
    }

    void modify(Registration registration, int interest) {
        requireInterest(registration.fd, interest);
        epoll.modify(registration.fd, interest, registration.key);
    }

    boolean remove(Registration registration) {
        forget(registration);
        return !closed && epoll.removeIfWatched(registration.fd); // its watches end with the epoll
    }

    /** Removes the descriptor from the epoll alone. Any thread. */
    void unwatch(Registration registration) {
        boolean _ = epoll.removeIfWatched(registration.fd);
    }

    void forget(Registration registration) {
        registrations.remove(registration);
    }

    /**
     * Number of registered descriptors.
     *
     * @return the number of registrations that have not ended
     */
    public int registrations() {
        return registrations.count();
    }

    // ---- timers ----

    /**
     * Creates a timer that is not set.
     *
     * @param handler runs inside {@link #poll} or {@link #runDueTimers} after each deadline
     * @return the timer; it is collected when it is neither set nor referenced
     */
    public Timer newTimer(Runnable handler) {
        return new Timer(this, Objects.requireNonNull(handler, "handler"));
    }

    /**
     * Whether a timer is set.
     *
     * @return whether {@link #nearestDeadlineNanos} has an answer
     */
    public boolean hasDeadline() {
        return !timers.isEmpty();
    }

    /**
     * The nearest deadline of the timers that are set; constant time.
     *
     * @return in terms of {@link System#nanoTime}
     * @throws IllegalStateException if none is set
     */
    public long nearestDeadlineNanos() {
        if (timers.isEmpty()) {
            throw new IllegalStateException("no timer is set: epollFd=" + epoll.fd());
        }
        return timers.first().deadlineNanos;
    }

    void set(Timer timer, long deadlineNanos) {
        timers.set(timer, deadlineNanos);
        descriptor.follow(timers);
    }

    void cancel(Timer timer) {
        timers.cancel(timer);
        descriptor.follow(timers);
    }

    // ---- waiting and serving ----

    /**
     * Waits until a descriptor is ready, a timer is due, {@link #wake} is called or the timeout is
     * over, and runs the handlers.
     *
     * @param timeoutNanos timeout; 0 only polls; negative waits without limit
     * @return number of events and due timers, wakes included; 0 after the timeout
     * @throws IllegalStateException inside a handler, or if the poller is closed
     */
    public int poll(long timeoutNanos) {
        requireOutside();
        int ready = await(timeoutNanos);
        running = true;
        int served;
        try {
            served = serve(ready) + runDue();
        } finally {
            running = false;
            descriptor.follow(timers);
        }
        throwFailure();
        return served;
    }

    /**
     * Runs the due timers only, without a system call.
     *
     * @return number of due timers
     * @throws IllegalStateException inside a handler
     */
    public int runDueTimers() {
        if (timers.isEmpty()) {
            return 0;
        }
        requireOutside();
        running = true;
        int served;
        try {
            served = runDue();
        } finally {
            running = false;
            descriptor.follow(timers);
        }
        throwFailure();
        return served;
    }

    private void requireOutside() {
        if (running) {
            throw new IllegalStateException(
                    "handlers are served already: epollFd=" + epoll.fd() + ", call=inside one");
        }
    }

    private int await(long timeoutNanos) {
        if (timeoutNanos == 0) {
            return epoll.await(0);
        }
        if (timeoutNanos < 0 && timers.isEmpty()) {
            descriptor.disarm();
            return epoll.await(-1);
        }
        long deadlineNanos = waitUntil(timeoutNanos);
        while (descriptor.arm(deadlineNanos)) {
            int ready = epoll.await(-1);
            if (ready != 1 || (int) epoll.data(0) != TIMER_SLOT) {
                return ready;
            }
        }
        return epoll.await(0);
    }

    /** The end of a wait: its timeout or the nearest deadline, whichever is earlier. */
    private long waitUntil(long timeoutNanos) {
        long end = System.nanoTime() + Math.min(timeoutNanos, LONGEST_WAIT_NANOS);
        if (timers.isEmpty()) {
            return end;
        }
        long nearest = timers.first().deadlineNanos;
        return timeoutNanos < 0 || nearest - end < 0 ? nearest : end;
    }

    private int serve(int ready) {
        int served = 0;
        for (int i = 0; i < ready; i++) {
            long key = epoll.data(i);
            int slot = (int) key;
            if (slot == TIMER_SLOT) {
                descriptor.disarm(); // what is due is known without it
                continue;
            }
            if (slot == WAKE_SLOT) {
                // Drained before the flags are cleared: a wake in between finds one set and does
                // not signal, but its cause is seen, since the owner checks before it waits.
                EventFd.drain(wakeDescriptor);
                served += signals.getAndSet(0) & WOKEN;
                continue;
            }
            served++;
            Registration registration = registrations.find(key);
            if (registration != null) { // else removed meanwhile
                try {
                    registration.handler.onReady(epoll.events(i));
                } catch (Throwable thrown) {
                    failed(thrown);
                }
            }
        }
        return served;
    }

    /** Removes the due timers, then runs them: timers set by a handler wait for the next turn. */
    private int runDue() {
        if (timers.isEmpty()) {
            return 0;
        }
        timers.takeDue(System.nanoTime());
        int served = 0;
        Timer due;
        while ((due = timers.nextDue()) != null) {
            served++;
            try {
                due.handler.run();
            } catch (Throwable thrown) {
                failed(thrown);
            }
        }
        return served;
    }

    @SuppressWarnings("ReferenceEquality") // the same object cannot suppress itself
    private void failed(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
    }

    private void throwFailure() {
        Throwable thrown = failure;
        if (thrown != null) {
            failure = null;
            switch (thrown) {
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default ->
                        throw new IllegalStateException(
                                "handler threw a checked exception", thrown);
            }
        }
    }

    /**
     * Ends the current {@link #poll}, or the next one if none is waiting. Any thread; allocates
     * nothing, and makes a system call only if no wake is pending.
     */
    public void wake() {
        signal(WOKEN);
    }

    /**
     * Ends the current {@link #poll}, or the next one if none is waiting, which does not count it:
     * for a thread that is interrupted. Any thread, also after the end of the wait and of the
     * poller; allocates nothing.
     */
    public void endWait() {
        signal(ENDED);
    }

    private void signal(int kind) {
        int before = signals.get();
        while ((before & kind) == 0 && !signals.compareAndSet(before, before | kind)) {
            before = signals.get();
        }
        if (before == 0) {
            boolean signalled = false;
            try {
                synchronized (signals) { // contended only by close
                    if (!closed) {
                        EventFd.signal(wakeDescriptor);
                    }
                }
                signalled = true;
            } finally {
                if (!signalled) { // as at the end of a caller's stack: the next wake signals
                    signals.set(0);
                }
            }
        }
    }

    // ---- for event loops of the program ----

    /**
     * Makes {@link #fd} readable at the nearest deadline too, also of timers set from now on, until
     * {@link #unfollowDeadlines}. Costs a system call each time the nearest deadline changes, which
     * is why a poller that waits by {@link #poll} does not do it.
     */
    public void followDeadlines() {
        descriptor.setFollowing(true);
        descriptor.follow(timers);
    }

    /** Cancels {@link #followDeadlines}. */
    public void unfollowDeadlines() {
        descriptor.setFollowing(false);
        descriptor.disarm();
    }

    /**
     * Closes the poller's own descriptors. Registrations and timers end without a call of their
     * handlers. Idempotent.
     *
     * @throws IllegalStateException inside a handler
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        requireOutside();
        signals.set(WOKEN | ENDED); // no further wake needs a signal
        epoll.close();
        descriptor.close();
        synchronized (signals) {
            closed = true;
            FileDescriptors.close(wakeDescriptor);
        }
    }
}
