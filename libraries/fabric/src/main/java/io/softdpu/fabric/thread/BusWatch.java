package io.softdpu.fabric.thread;

import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Origins;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.linux.event.Timer;
import io.softdpu.linux.text.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Registration of a handler in the bus loop, with at most one descriptor and one deadline at a
 * time. On the bus thread.
 */
public final class BusWatch implements Poller.Handler {
    private static final System.Logger LOG = System.getLogger(BusWatch.class.getName());

    private final BusLoop loop;
    private final Poller poller;
    private final BusLoop.Handler handler;

    /** Stack trace of the request for the handler; null unless origins are recorded. */
    private final @Nullable Throwable origin;

    private @Nullable Registration registration;
    private @Nullable Timer timer;
    private boolean ended;

    BusWatch(BusLoop loop, Poller poller, BusLoop.Handler handler) {
        this.loop = loop;
        this.poller = poller;
        this.handler = handler;
        this.origin = Origins.asking();
    }

    /**
     * Listens to a descriptor, which stays the caller's.
     *
     * @throws LinuxException if the limit of epoll watches of this user is reached
     */
    public void listen(int descriptor, int events) {
        if (ended) {
            return;
        }
        if (registration != null) {
            throw new IllegalStateException(
                    "handler has a descriptor already: fd="
                            + registration.fd()
                            + ", new="
                            + descriptor);
        }
        registration = poller.add(descriptor, events, this);
    }

    /** Changes the events of the descriptor; does nothing without one. */
    public void setInterest(int events) {
        Registration present = registration;
        if (present != null) {
            present.setInterest(events);
        }
    }

    /** Stops listening; the descriptor stays open. Idempotent. */
    public void unlisten() {
        Registration present = registration;
        if (present != null) {
            registration = null;
            present.remove();
        }
    }

    /** Sets or moves the deadline, in nanoTime. */
    public void setDeadline(long deadlineNanos) {
        if (ended) {
            return;
        }
        Timer present = timer;
        if (present == null) {
            present = poller.newTimer(this::onDeadline);
            timer = present;
        }
        present.set(deadlineNanos);
    }

    /** Leaves the loop, which must happen before the descriptor is closed. Idempotent. */
    public void end() {
        if (!ended) {
            ended = true;
            loop.left(this);
            cancelDeadline();
            unlisten();
        }
    }

    /** Ends with the loop, and lets the handler release its resources even if the epoll fails. */
    void shutdown() {
        ended = true;
        try {
            cancelDeadline();
            unlisten(); // the handler hands its descriptor to the closing threads
        } catch (RuntimeException | Error e) {
            failed(e);
        }
        try {
            handler.onShutdown();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private void cancelDeadline() {
        if (timer != null) {
            timer.cancel();
        }
    }

    @Override
    public void onReady(int events) {
        Origins.askedAt(origin);
        try {
            handler.onEvents(events);
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            Origins.askedAt(null);
        }
    }

    private void onDeadline() {
        try {
            handler.onDeadline();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Logs a failure: one connection's must not end the thread that serves all others. */
    private static void failed(Throwable e) {
        LOG.log(System.Logger.Level.ERROR, "bus handler failed: " + Reason.of(e), e);
    }
}
