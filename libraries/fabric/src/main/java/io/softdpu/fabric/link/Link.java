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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Socket to a peer after the handshake: it carries doorbells, one byte each, and its end signals
 * the peer's end. It carries no data.
 *
 * <p>{@link #ring()}, {@link #peerGone()} and {@link #close()} may be called by any thread. Closing
 * hands the descriptor to the bus thread, which closes it after the last ring has left, so that no
 * thread ever writes to a descriptor number that has been reused.
 */
public final class Link {
    private static final VarHandle USERS;
    private static final int CLOSED = 1 << 30;
    private static final int DISPOSED = 1 << 29;
    private static final int COUNT = DISPOSED - 1;

    /** Events that report the end of the peer. */
    private static final int GONE_EVENTS = Poller.RDHUP | Poller.HUP;

    /** Events that report that the peer has closed its socket, not only that it writes no more. */
    private static final int CLOSED_EVENTS = Poller.HUP | Poller.ERR;

    /**
     * System calls of the bus thread for a turn of a link, beyond those per doorbell: it waits for
     * one, and looks for a further one twice.
     */
    private static final int CALLS_PER_TURN = 3;

    /** A doorbell is received, and the next one is looked for. */
    private static final int CALLS_PER_DOORBELL = 2;

    static {
        try {
            USERS = MethodHandles.lookup().findVarHandle(Link.class, "users", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BusThreads threads;
    private final int descriptor;
    private final PeerCredentials peer;
    private final List<Runnable> goneCallbacks = new ArrayList<>();
    private final boolean descriptorsRefused;
    private volatile boolean peerGone;

    /** Set if the peer holds memory until it hangs up; before any other code has the link. */
    private volatile @Nullable Runnable hangUpCallback;

    /** Whether doorbells may carry descriptors; of the thread that drains. */
    private boolean peeking = true;

    /**
     * Registrations in the pollers of engines, of a link whose descriptor is open; guarded by
     * itself.
     */
    private final List<Registration> registrations = new ArrayList<>();

    /** Held by the thread that drains: several engines may listen. */
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Watch for the peer's end; of the bus thread. */
    private @Nullable BusWatch watch;

    /** Events that the watch waits for, except doorbells; of the bus thread. */
    private int endEvents = GONE_EVENTS;

    /** Action of doorbells on the bus thread, if it serves them; of the bus thread. */
    private @Nullable IntSupplier busAction;

    private @Nullable DoorbellBudget busBudget;

    @SuppressWarnings("unused") // through USERS
    private volatile int users;

    private Link(
            BusThreads threads, int descriptor, PeerCredentials peer, boolean descriptorsRefused) {
        this.threads = threads;
        this.descriptor = descriptor;
        this.peer = peer;
        this.descriptorsRefused = descriptorsRefused;
    }

    /**
     * Creates a link from a socket and watches for its peer's end. On the bus thread.
     *
     * @param threads of the bus
     * @param descriptor of the socket; the link's, unless this throws
     * @throws LinuxException if the limit of epoll watches of this user is reached
     */
    public static Link open(BusThreads threads, int descriptor, PeerCredentials peer) {
        boolean descriptorsRefused = UnixSocket.refuseDescriptors(descriptor);
        Link link = new Link(threads, descriptor, peer, descriptorsRefused);
        link.watch = threads.loop().join(link.new PeerWatch(), descriptor, GONE_EVENTS);
        return link;
    }

    /**
     * Serves doorbells on the bus thread, in addition to engines that listen. No doorbell is lost,
     * and needless ones cannot keep the bus thread from its other peers. Does nothing if they are
     * served with this action already. On the bus thread.
     *
     * @param budget limit for this link and others, those of one object
     * @param action runs on the bus thread after one or several doorbells; returns how many system
     *     calls it has made
     */
    @SuppressWarnings("ReferenceEquality") // the same objects
    public void serveOnBus(DoorbellBudget budget, IntSupplier action) {
        if (busAction == action && busBudget == budget) {
            return;
        }
        stopServingOnBus();
        busBudget = budget;
        busAction = action;
        listenOnBus(true);
    }

    /** Ends {@link #serveOnBus}. On the bus thread. */
    public void stopServingOnBus() {
        DoorbellBudget budget = busBudget;
        if (budget != null) {
            busBudget = null;
            busAction = null;
            budget.forget(this);
            listenOnBus(false);
        }
    }

    void listenOnBus(boolean forDoorbells) {
        if (watch != null) {
            watch.setInterest(forDoorbells ? endEvents | Poller.IN : endEvents);
        }
    }

    BusLoop loop() {
        return threads.loop();
    }

    /** Result of a turn of the bus thread. */
    enum Turn {
        /** Doorbells were served. */
        SERVED,
        /** There was none, or another thread serves them. */
        IDLE,
        /** The peer has ended, or its doorbells are not served any more. */
        ENDED
    }

    /** Drains doorbells and serves them on the bus thread, as part of a budget. */
    Turn takeTurn() {
        DoorbellBudget budget = busBudget;
        IntSupplier action = busAction;
        if (budget == null || action == null) {
            return Turn.ENDED;
        }
        int drained = drainCounted();
        budget.use(CALLS_PER_TURN + CALLS_PER_DOORBELL * Math.max(drained, 0));
        if (drained <= 0) {
            return drained < 0 ? Turn.ENDED : Turn.IDLE;
        }
        budget.use(action.getAsInt());
        return Turn.SERVED;
    }

    /**
     * Whether the peer has closed its end, its process has ended, or it has sent anything but
     * doorbells; a volatile read.
     */
    public boolean peerGone() {
        return peerGone;
    }

    /** Runs the callback once on the bus thread when the peer goes; at once if it has gone. */
    public void onPeerGone(Runnable callback) {
        synchronized (goneCallbacks) {
            if (!peerGone) {
                goneCallbacks.add(callback);
                return;
            }
        }
        callback.run();
    }

    /**
     * Rings the peer: one byte, never blocking. A full socket means that a ring is pending, and a
     * peer that is gone is noticed by the bus thread; both need no handling here.
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
        return peer.pid();
    }

    /** User id of the peer, from the kernel. */
    public int peerUid() {
        return peer.uid();
    }

    /** Ends the link; the peer sees it as gone. Idempotent. */
    public void close() {
        USERS.getAndBitwiseOr(this, CLOSED);
        disposeIfUnused();
    }

    /** Stops watching for the peer's end. On the bus thread. */
    private void endWatch() {
        stopServingOnBus();
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
            synchronized (registrations) {
                Registration registration = poller.add(descriptor, Poller.IN, handler);
                registrations.add(registration);
                return registration;
            }
        } finally {
            leave();
        }
    }

    /** Cancels {@link #listen}, before its poller is closed. */
    void unlisten(Registration registration) {
        synchronized (registrations) {
            if (registrations.remove(registration)) {
                registration.remove();
            } else { // the bus thread has taken the descriptor out of the poller
                registration.abandon();
            }
        }
    }

    /**
     * Runs the callback on the bus thread when the peer hangs up, for a peer that holds memory
     * until then; also when the bus ends, and then without the peer having hung up. Neither a
     * shutdown by one side nor data from the peer counts as hanging up; a peer that has shut down
     * its side cannot be told from one that has hung up after {@link #shutdownOutput()}. On the bus
     * thread, before any other code has the link.
     */
    public void onHangUp(Runnable callback) {
        hangUpCallback = callback;
    }

    /**
     * Drains pending doorbells. A peer that sends anything else counts as gone, and nothing more is
     * read from it. If this side waits for it to hang up the socket is left as it is, since a
     * shutdown would look like hanging up; otherwise the read side is shut down.
     *
     * <p>Peeks at each message before receiving it, so that no passed descriptor is closed on this
     * thread, since the peer could make that close block. If the kernel refuses descriptors on the
     * socket, peeking ends when the messages sent before that have been received.
     *
     * <p>Does nothing while another thread drains: a message that one has peeked at must not be
     * received by the other.
     *
     * @return false if the peer has closed its end, or broken the rule
     */
    boolean drain() {
        return drainCounted() >= 0;
    }

    /** As {@link #drain()}: the number of doorbells, or -1. */
    private int drainCounted() {
        if (!enter()) {
            return -1;
        }
        if (!draining.compareAndSet(false, true)) {
            leave();
            return 0;
        }
        try {
            int dropped = peeking ? Doorbell.drainWithPeek(descriptor) : Doorbell.drain(descriptor);
            if (dropped < 0) {
                if (hangUpCallback == null) {
                    Socket.shutdownRead(descriptor); // the bus thread hears of it
                } else {
                    threads.loop().execute(this::markPeerGone);
                }
                return -1;
            }
            if (peeking && descriptorsRefused && dropped < Doorbell.DRAIN_LIMIT) {
                peeking = false;
            }
            return dropped;
        } finally {
            draining.set(false);
            leave();
        }
    }

    /** Handles the close of the peer's end or the end of the bus. On the bus thread. */
    private void hungUp() {
        try {
            markPeerGone();
        } finally { // a failing callback must not retain memory permanently
            Runnable callback = hangUpCallback;
            if (callback != null) {
                callback.run();
            }
        }
    }

    /** Marks the peer as gone and runs the callbacks. On the bus thread. */
    private void markPeerGone() {
        List<Runnable> callbacks;
        synchronized (goneCallbacks) {
            if (peerGone) {
                return;
            }
            peerGone = true;
            callbacks = List.copyOf(goneCallbacks);
            goneCallbacks.clear();
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

    /**
     * Disposes of a closed link without users: the one thread that sets the bit hands the
     * descriptor over.
     */
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

    /**
     * Hands the descriptor to the closing threads, taken out of each poller: a socket that was shut
     * down and waits for a closing thread would wake the engines without end. On the bus thread.
     */
    private void dispose() {
        endWatch();
        try {
            synchronized (registrations) {
                registrations.forEach(Registration::unwatch);
                registrations.clear();
            }
        } finally {
            threads.closer().closeSocket(descriptor);
        }
    }

    /** Handler of the peer's end. */
    private final class PeerWatch implements BusLoop.Handler {
        @Override
        public void onEvents(int events) {
            DoorbellBudget budget = busBudget;
            if ((events & Poller.IN) != 0 && budget != null) {
                budget.ready(Link.this);
            }
            boolean closed = (events & CLOSED_EVENTS) != 0;
            boolean silent = (events & Poller.RDHUP) != 0;
            if (closed || (silent && hangUpCallback == null)) {
                endWatch();
                hungUp();
            } else if (silent) { // it writes no more, but may hold memory still
                endEvents = Poller.HUP;
                listenOnBus(false);
                markPeerGone();
            }
        }

        @Override
        public void onShutdown() {
            hungUp();
        }
    }
}
