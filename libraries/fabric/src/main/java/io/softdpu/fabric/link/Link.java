package io.softdpu.fabric.link;

import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.linux.Doorbell;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.Socket;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A socket to a peer that has shaken hands: it carries doorbells, one byte each, and its end tells
 * of the peer's end. Data never travels here.
 *
 * <p>{@link #ring()}, {@link #peerGone()} and {@link #close()} may be called by any thread. Closing
 * hands the descriptor to the bus thread, which closes it after the last ring has left, so that no
 * thread ever writes to a number that was given to somebody else.
 */
public final class Link {
    private static final VarHandle USERS;
    private static final int CLOSED = 1 << 30;
    private static final int DISPOSED = 1 << 29;
    private static final int COUNT = DISPOSED - 1;

    static {
        try {
            USERS = MethodHandles.lookup().findVarHandle(Link.class, "users", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BusThreads threads;
    private final int descriptor;
    private final int peerPid;
    private final List<Runnable> whenGone = new ArrayList<>();
    private final boolean descriptorsRefused;
    private volatile boolean peerGone;

    /** Set where the peer holds something until it hangs up; before anybody else has the link. */
    private volatile @Nullable Runnable whenHungUp;

    /** Whether a doorbell may bring descriptors; of the thread that listens. */
    private boolean watchful = true;

    /** The bus thread's watch for the peer's end; of the bus thread. */
    private @Nullable BusWatch watch;

    @SuppressWarnings("unused") // through USERS
    private volatile int users;

    private Link(
            BusThreads threads, int descriptor, PeerCredentials peer, boolean descriptorsRefused) {
        this.threads = threads;
        this.descriptor = descriptor;
        this.peerPid = peer.pid();
        this.descriptorsRefused = descriptorsRefused;
    }

    /**
     * Makes a link of a socket and watches for its peer's end. On the bus thread.
     *
     * @param threads of the bus
     * @param descriptor of the socket; the link's, unless this throws
     * @throws LinuxException if the kernel lets this user watch nothing more
     */
    public static Link open(BusThreads threads, int descriptor, PeerCredentials peer) {
        boolean descriptorsRefused = UnixSocket.refuseDescriptors(descriptor);
        Link link = new Link(threads, descriptor, peer, descriptorsRefused);
        link.watch =
                threads.loop().join(link.new PeerWatch(), descriptor, Poller.RDHUP | Poller.HUP);
        return link;
    }

    /**
     * Whether the peer's end has closed, its process has ended, or it has sent what is no doorbell;
     * a volatile read.
     */
    public boolean peerGone() {
        return peerGone;
    }

    /** Runs the callback once on the bus thread when the peer goes; at once if it has gone. */
    public void onPeerGone(Runnable callback) {
        synchronized (whenGone) {
            if (!peerGone) {
                whenGone.add(callback);
                return;
            }
        }
        callback.run();
    }

    /**
     * Rings the peer: one byte, never blocking. A full socket means that a ring is pending, and a
     * peer that is gone is noticed by the bus thread; both need nothing here.
     */
    public void ring() {
        if (enter()) {
            try {
                Doorbell.ring(descriptor);
            } finally {
                leave();
            }
        }
    }

    /** Process id of the peer, from the kernel. */
    public int peerPid() {
        return peerPid;
    }

    /** Ends the link; the peer sees it as gone. Idempotent. */
    public void close() {
        USERS.getAndBitwiseOr(this, CLOSED);
        disposeIfUnused();
    }

    /** Waits for the peer's end no more. On the bus thread. */
    private void endWatch() {
        if (watch != null) {
            watch.end();
        }
    }

    /** Tells the peer that its lease has ended while its own end is still watched. */
    public void shutdownOutput() {
        if (enter()) {
            try {
                Socket.shutdownWrite(descriptor);
            } finally {
                leave();
            }
        }
    }

    /** Listens for doorbells; null if the link is closed. */
    @Nullable Registration listen(Poller poller, Poller.Handler handler) {
        if (!enter()) {
            return null;
        }
        try {
            return poller.add(descriptor, Poller.IN, handler);
        } finally {
            leave();
        }
    }

    /** Takes {@link #listen} back. */
    void unlisten(Registration registration) {
        if (enter()) {
            try {
                registration.remove();
            } finally {
                leave();
            }
        } else { // the bus thread closes the descriptor, or has closed it
            registration.abandon();
        }
    }

    /**
     * For a peer that holds something until it hangs up: runs the callback on the bus thread when
     * that happens. What this side does to the socket never counts as the peer's hanging up, nor
     * does what the peer sends. On the bus thread, before anybody else has the link.
     */
    public void onHangUp(Runnable callback) {
        whenHungUp = callback;
    }

    /**
     * Drops pending doorbells. A peer that sends anything else ends the link for itself: nothing is
     * read of it any more, and it counts as gone. Where its hanging up is waited for the socket
     * stays as it is, since shutting it would look the same; else it cannot send any more either.
     *
     * <p>Looks at each message before it takes it, so that no descriptor that rides along is let go
     * of on this thread, which could be kept by that for as long as the peer likes. Where the
     * kernel refuses descriptors this ends as soon as what came before has been seen.
     *
     * @return false if the peer has closed its end, or broken the rule
     */
    boolean drain() {
        if (!enter()) {
            return false;
        }
        try {
            int dropped =
                    watchful ? Doorbell.drainWatchfully(descriptor) : Doorbell.drain(descriptor);
            if (dropped < 0) {
                if (whenHungUp == null) {
                    Socket.shutdownRead(descriptor); // the bus thread hears of it
                } else {
                    threads.loop().execute(this::markPeerGone);
                }
                return false;
            }
            if (watchful && descriptorsRefused && dropped < Doorbell.DRAIN_LIMIT) {
                watchful = false;
            }
            return true;
        } finally {
            leave();
        }
    }

    /** On the bus thread: the peer's end is closed, or the bus ends. */
    private void hungUp() {
        try {
            markPeerGone();
        } finally { // what others make of it must not keep memory back for ever
            Runnable callback = whenHungUp;
            if (callback != null) {
                callback.run();
            }
        }
    }

    /** On the bus thread. */
    private void markPeerGone() {
        List<Runnable> callbacks;
        synchronized (whenGone) {
            if (peerGone) {
                return;
            }
            peerGone = true;
            callbacks = List.copyOf(whenGone);
            whenGone.clear();
        }
        callbacks.forEach(Runnable::run);
    }

    private boolean enter() {
        int before = (int) USERS.getAndAdd(this, 1);
        if ((before & CLOSED) == 0) {
            return true;
        }
        leave();
        return false;
    }

    private void leave() {
        int after = (int) USERS.getAndAdd(this, -1) - 1;
        if ((after & CLOSED) != 0) {
            disposeIfUnused();
        }
    }

    /** Closed and left by everybody: the one thread that sets the bit hands the descriptor over. */
    private void disposeIfUnused() {
        int seen = users;
        while ((seen & COUNT) == 0 && (seen & DISPOSED) == 0) {
            if (USERS.compareAndSet(this, seen, seen | DISPOSED)) {
                threads.loop().execute(this::dispose);
                return;
            }
            seen = users;
        }
    }

    /** On the bus thread. */
    private void dispose() {
        endWatch();
        threads.closer().closeSocket(descriptor);
    }

    /** Waits for the peer's end. */
    private final class PeerWatch implements BusLoop.Handler {
        @Override
        public void onEvents(int events) {
            if ((events & (Poller.RDHUP | Poller.HUP | Poller.ERR)) != 0) {
                endWatch();
                hungUp();
            }
        }

        @Override
        public void onShutdown() {
            hungUp();
        }
    }
}
