package io.softdpu.fabric.link;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.linux.event.Timer;

/**
 * Descriptors and deadlines of an engine, other than the doorbells of its links: a separate {@link
 * Poller} nested in the engine's event poller, so that their handlers run in the engine's progress
 * and not in its sleep, and so that a ready descriptor makes the engine's handle readable only if
 * that was requested.
 *
 * <p>{@link #progress} polls the descriptors after a sleep that they have ended, after a poll that
 * found one ready, and otherwise every {@value #POLL_INTERVAL_NANOS} ns: an engine that polls its
 * rings does not make a system call per pass for them. Deadlines are compared with the clock in
 * each pass.
 *
 * <p>Belongs to the engine's thread.
 */
public final class EngineEvents implements AutoCloseable {
    /**
     * Interval of polls. A poll takes about 0.3 microseconds of system call: less than a hundredth
     * of this.
     */
    private static final long POLL_INTERVAL_NANOS = 50_000;

    private final Poller poller;
    private final Registration inPoller;
    private boolean listening;
    private boolean following;

    /** Whether the next progress polls the descriptors before the interval has passed. */
    private boolean ready;

    private long nextPollNanos = System.nanoTime();

    /**
     * Creates the events of an engine.
     *
     * @throws FabricException SYSTEM if this process has no descriptors left, or this user no epoll
     *     watches
     */
    public EngineEvents(EventPoller parent) {
        Poller made = null;
        try {
            made = new Poller();
            inPoller = parent.addNested(made, events -> ready = true);
        } catch (LinuxException e) {
            if (made != null) {
                made.close();
            }
            throw system("engine cannot wait for descriptors", e);
        }
        poller = made;
    }

    /**
     * Watches a descriptor, level-triggered.
     *
     * @param interest constants of {@link Poller}, or-ed
     * @throws FabricException IN_USE if it is watched already; NOT_FOUND if it is not open;
     *     NOT_SUPPORTED if epoll cannot watch its kind of file; SYSTEM if the limit of epoll
     *     watches of this user is reached
     */
    public Registration watch(int descriptor, int interest, Poller.Handler handler) {
        try {
            Registration registration = poller.add(descriptor, interest, handler);
            ready = true; // it may be ready already
            return registration;
        } catch (IllegalStateException e) {
            throw new FabricException(
                    FabricException.Kind.IN_USE,
                    "descriptor is watched already: descriptor=" + descriptor,
                    e);
        } catch (LinuxException e) {
            throw switch (e.errno()) {
                case Errno.EBADF ->
                        new FabricException(
                                FabricException.Kind.NOT_FOUND,
                                "descriptor is not open: descriptor=" + descriptor,
                                e);
                case Errno.EPERM, Errno.EINVAL, Errno.ELOOP ->
                        new FabricException(
                                FabricException.Kind.NOT_SUPPORTED,
                                "descriptor cannot be watched, such as of a file or of this engine:"
                                        + " descriptor="
                                        + descriptor
                                        + ", errno="
                                        + Errno.name(e.errno()),
                                e);
                default -> system("descriptor cannot be watched", e);
            };
        }
    }

    /**
     * Changes the events that a descriptor is watched for.
     *
     * @throws FabricException NOT_FOUND if it was closed meanwhile
     */
    public void setInterest(Registration registration, int interest) {
        try {
            registration.setInterest(interest);
            ready = true;
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "descriptor was closed while it was watched: descriptor="
                            + registration.fd()
                            + ", errno="
                            + Errno.name(e.errno()),
                    e);
        }
    }

    /** Creates a timer that is not set. */
    public Timer newTimer(Runnable handler) {
        return poller.newTimer(handler);
    }

    /**
     * Runs the handlers of due timers and, if a poll is due, of ready descriptors.
     *
     * @return whether any ran
     */
    public boolean progress() {
        if (poller.registrations() == 0) {
            return poller.runDueTimers() > 0;
        }
        long now = System.nanoTime();
        if (!ready && now - nextPollNanos < 0) {
            return poller.runDueTimers() > 0;
        }
        nextPollNanos = now + POLL_INTERVAL_NANOS;
        ready = true; // also where a handler throws
        int served = poller.poll(0);
        ready = served > 0;
        return ready;
    }

    /**
     * The time until the nearest deadline.
     *
     * @param limitNanos the result if no deadline is set or the nearest is later
     * @return 0 if one is due
     */
    public long untilDeadline(long limitNanos) {
        if (!poller.hasDeadline()) {
            return limitNanos;
        }
        long left = poller.nearestDeadlineNanos() - System.nanoTime();
        return Math.max(0, Math.min(limitNanos, left));
    }

    /**
     * Makes the event poller's sleep end when a descriptor is ready. Permanent; a system call the
     * first time.
     */
    public void arm() {
        if (poller.registrations() > 0) {
            listen();
        }
    }

    private void listen() {
        if (!listening) {
            listening = true;
            inPoller.setInterest(Poller.IN);
        }
    }

    /**
     * Makes the event poller's handle readable when a descriptor is ready and at each deadline,
     * until {@link #clear}.
     */
    public void request() {
        listen();
        if (!following) {
            poller.followDeadlines();
            following = true;
        }
    }

    /** Cancels {@link #request}; the next progress polls the descriptors. */
    public void clear() {
        if (following) {
            following = false;
            poller.unfollowDeadlines();
        }
        if (listening) {
            listening = false;
            inPoller.setInterest(0);
        }
        ready = true;
    }

    /** Closes its own descriptors. Watched descriptors stay with their owners. */
    @Override
    public void close() {
        inPoller.remove();
        poller.close();
    }

    private static FabricException system(String what, LinuxException e) {
        return new FabricException(FabricException.Kind.SYSTEM, what + ": " + e.getMessage(), e);
    }
}
