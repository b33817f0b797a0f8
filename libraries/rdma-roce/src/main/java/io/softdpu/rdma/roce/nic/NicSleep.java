package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.rdma.roce.adapter.Adapter;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sleep of the thread of a NIC: what is watched meanwhile, until when it lasts, and whether what
 * programs do must end it.
 *
 * <pre>
 *   while                       the socket is       the thread sleeps until
 *   no program polls            watched             the next deadline
 *   one has polled lately       as it was           the next look whether one polls, beside a deadline
 *   one takes the packets       not watched         the same
 *   that one goes to sleep      watched by it       the same; it ends that for what is due earlier
 * </pre>
 *
 * <p>Belongs to the owner of the NIC but for what is said to be others'. Allocates nothing. Tests
 * extend it, to see what ends it.
 */
class NicSleep {
    /** Time after which the thread looks whether a program still drives. */
    static final long LOOK_NANOS = 1_000_000;

    /** Where nothing is due. */
    private static final long LONGEST_NANOS = 3_600_000_000_000L;

    /** Turns after which the errors of the socket are looked at, which else a sleep does. */
    private static final int TURNS_PER_POLL = 64;

    /** Changed by the thread as the owner, so that it may also look at them without. */
    private final List<NicEndpoint> endpoints;

    /** Null until {@link #prepare}. */
    private @Nullable Poller poller;

    private @Nullable Registration registration;

    /** Events of the socket that wake the thread, besides errors. */
    private int interest = Poller.IN;

    /** Whether the thread sleeps, or is about to, and a time is set for its end. */
    private boolean asleep;

    private long wakesAt;

    // Of the thread alone.
    private int turns;

    /** Until the next wait ends. */
    private long timeoutNanos;

    /** Whether it has slept since its last turn. */
    private boolean fresh;

    /** Whether a packet, or room for one, has ended its sleep. */
    private boolean packetsReady;

    private boolean errorsReady;

    /** Latest time at which a look has found that an engine had driven. */
    private long drivenAt = System.nanoTime() - LOOK_NANOS;

    /** Whether an engine that does not sleep had driven before the last look. */
    private boolean polledSinceLook;

    /** The same, a short time before. */
    private boolean polledLately;

    /** A sleep beside the programs of some endpoints. */
    NicSleep(List<NicEndpoint> endpoints) {
        this.endpoints = endpoints;
    }

    /**
     * Creates the descriptors that it needs, and watches a socket. Idempotent.
     *
     * @throws io.softdpu.linux.LinuxException if the process has no descriptors left
     */
    void prepare(int socketFd) {
        if (poller == null) {
            Poller made = new Poller();
            boolean added = false;
            try {
                registration = made.add(socketFd, Poller.IN, this::socketReady);
                poller = made;
                added = true;
            } finally {
                if (!added) {
                    made.close();
                }
            }
        }
    }

    private Poller poller() {
        return Objects.requireNonNull(poller, "prepared for its thread");
    }

    private Registration registration() {
        return Objects.requireNonNull(registration, "prepared for its thread");
    }

    /** Ends it, or the next one. Any thread; allocates nothing. */
    void wake() {
        poller().wake();
    }

    /** Closes its descriptors, before the socket. */
    void close() {
        Poller made = poller;
        if (made != null) {
            try {
                boolean _ = registration().remove();
            } finally {
                made.close();
            }
        }
    }

    // ---- programs ----

    /** Watches the socket for engines that sleep, unless another engine polls. */
    void watchForSleepers() {
        if ((interest & Poller.IN) != 0) {
            return;
        }
        for (int i = 0; i < endpoints.size(); i++) {
            if (endpoints.get(i).hasPolledSinceLook()) {
                return;
            }
        }
        watch(interest | Poller.IN);
    }

    /**
     * Whether the thread would sleep for too long: beyond what is due, or beyond its next look.
     *
     * @param due deadline of the NIC, or {@link Adapter#NO_DEADLINE}
     * @param toSleep whether the program goes to sleep, which else serves what is due itself
     */
    boolean isTooLong(long now, long due, boolean toSleep) {
        if (due == Adapter.NO_DEADLINE) {
            return false;
        }
        long look = now + LOOK_NANOS;
        if (due - look < 0) {
            return toSleep || (asleep && look - wakesAt < 0);
        }
        return asleep && due - wakesAt < 0;
    }

    /** The thread is being woken, or awake: no program needs to. */
    void end() {
        asleep = false;
    }

    // ---- the thread, as the owner ----

    /**
     * Whether a packet, or room for one, has ended its last sleep, and no program that polls may
     * have taken it since.
     */
    boolean hasPackets() {
        return fresh && packetsReady && !polledLately;
    }

    /** Whether there are errors at the socket, since this was asked. */
    boolean takeErrors() {
        boolean some = errorsReady;
        errorsReady = false;
        return some;
    }

    /** Looks whether engines poll: since the last look, or a short time before. */
    void look(long nanos) {
        polledSinceLook = false;
        polledLately = false;
        for (int i = 0; i < endpoints.size(); i++) {
            NicEndpoint each = endpoints.get(i);
            polledSinceLook |= each.hasPolledSinceLook();
            if (each.look(nanos)) {
                drivenAt = nanos;
            }
            polledLately |= each.hasPolledLately(nanos);
        }
    }

    /** Whether the packets are left to a program, as the last look has found. */
    boolean leavesPackets() {
        return fresh ? polledLately && packetsReady : polledSinceLook;
    }

    /**
     * Decides what is watched during the next one, and until when that lasts at most. It looks once
     * more after the last look that has found a program: one that sleeps then relies on it for what
     * is due later.
     *
     * @param deadline of the NIC, or {@link Adapter#NO_DEADLINE}
     * @param blocked whether packets wait for room in the socket
     */
    void plan(long now, long deadline, boolean blocked) {
        boolean leaves = leavesPackets();
        if (leaves) { // the program takes the packets, and the thread has no need to wake
            watch(0);
        } else if (!polledLately) {
            watch(blocked ? Poller.IN | Poller.OUT : Poller.IN);
        }
        long wakes = deadline == Adapter.NO_DEADLINE ? now + LONGEST_NANOS : deadline;
        long look = drivenAt + LOOK_NANOS;
        boolean first = look - now > 0 && look - wakes < 0;
        wakesAt = leaves || polledLately || first ? look : wakes;
        asleep = true;
    }

    private void watch(int events) {
        if (interest != events) {
            interest = events;
            registration().setInterest(events);
        }
    }

    /** Waits for room in the socket, or for the end of a time. */
    void awaitRoom(long nanos) {
        registration().setInterest(Poller.OUT);
        int _ = poll(nanos);
    }

    // ---- the thread, which does not own the word ----

    /** Begins the one that was planned, by {@link #awaitEvent}. */
    void begin() {
        fresh = true;
        packetsReady = false;
        timeoutNanos = Math.max(0, wakesAt - System.nanoTime());
    }

    /**
     * Waits.
     *
     * @return whether nothing has ended it but the time for a look, and a program polls: the thread
     *     sleeps on
     */
    boolean awaitEvent() {
        if (poll(timeoutNanos) != 0) {
            return false;
        }
        look(System.nanoTime());
        timeoutNanos = LOOK_NANOS;
        return polledLately;
    }

    /** There is none behind this turn; after some of these, looks at the errors of the socket. */
    void skip() {
        fresh = false;
        if (++turns >= TURNS_PER_POLL) {
            int _ = poll(0);
        }
    }

    private int poll(long nanos) {
        turns = 0;
        return poller().poll(nanos);
    }

    private void socketReady(int events) {
        packetsReady |= (events & (Poller.IN | Poller.OUT)) != 0;
        errorsReady |= (events & Poller.ERR) != 0;
    }

    /** Events of the socket that end it, besides errors. */
    final int interest() {
        return interest;
    }

    /** Time until which it lasts at most. */
    final long wakesAt() {
        return wakesAt;
    }
}
