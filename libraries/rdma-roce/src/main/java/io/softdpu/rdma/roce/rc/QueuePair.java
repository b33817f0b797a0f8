package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * One end of a reliable connection (section 10.2.4, as far as a program can see it).
 *
 * <pre>
 *   event               IDLE        READY          CONNECTED                  ENDED
 *   prepare             READY       thrown         thrown                     thrown
 *   connect             CONNECTED   CONNECTED      -                          -
 *   submit              refused     refused        queued                     refused
 *   packet of the peer  dropped     CONNECTED and  executed, or completes     dropped; a request
 *                                   contacted, as                             that has failed is
 *                                   there                                     refused again
 *   failure             -           -              ENDED, requests flushed    -
 *   end                 ENDED       ENDED          ENDED, requests flushed    ENDED
 * </pre>
 *
 * <p>Belongs to the thread of its adapter. {@link #submit} sends nothing: the adapter's
 * transmission does.
 */
public final class QueuePair {
    /** State of a queue pair. */
    public enum State {
        /** It has a number, and no peer. */
        IDLE,
        /** It takes packets of its peer, and sends nothing until the first, or connect. */
        READY,
        /** It exchanges packets with its peer. */
        CONNECTED,
        /** It was ended, or has failed. */
        ENDED
    }

    /** No request of the queue has failed. */
    static final long NO_POSITION = -1;

    /** Refusals in a row after which it ends. */
    private static final int REFUSALS = 2;

    private static final int FIRST_PORT = 0xc000;
    private static final int PORT_MASK = 0x3fff;
    private static final Refusal NOT_CONNECTED =
            Refusal.ready(
                    Status.NOT_CONNECTED,
                    () -> "queue pair is not connected: expected=state CONNECTED");

    private final int number;
    private final @Nullable Object owner;
    private final ConnectionEvents events;
    private final Agenda agenda;
    private final Requester requester;
    private final Responder responder;
    private final ConnectionCounters counters = new ConnectionCounters();
    private State state = State.IDLE;
    private @Nullable Path path;

    /** Number of refusals since the last packet of the peer. */
    private int refusals;

    /** Whether this side has ended it, so that no event follows. */
    private boolean released;

    /** Whether it was the responder that has sent the last packet while both have some. */
    private boolean requestersTurn;

    // For the agenda.
    boolean listed;
    boolean urgent;
    int heapAt = Agenda.ABSENT;
    long heapDeadline;

    /**
     * Creates one without a peer.
     *
     * @param number 24 bits
     * @param owner for {@link #owner}
     */
    public QueuePair(
            int number,
            @Nullable Object owner,
            Attachment attachment,
            Limits limits,
            ConnectionEvents events,
            Agenda agenda) {
        this.number = number;
        this.owner = owner;
        this.events = events;
        this.agenda = agenda;
        requester = new Requester(this, attachment, limits);
        responder = new Responder(this, attachment, limits);
    }

    /** Its number in the packets of its peer: 24 bits, neither 0 nor 1. */
    public int number() {
        return number;
    }

    /** The object that was passed at its creation. */
    public @Nullable Object owner() {
        return owner;
    }

    /** Its state. */
    public State state() {
        return state;
    }

    /** What it has agreed on with its peer; null while IDLE. */
    public @Nullable Path path() {
        return path;
    }

    /** What it has counted. */
    public ConnectionCounters counters() {
        return counters;
    }

    boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** UDP port of its packets. */
    int sourcePort() {
        return FIRST_PORT | ((number ^ number >>> 14) & PORT_MASK);
    }

    /**
     * Prepares it for a peer that may not be connected yet: packets are taken, nothing is sent. The
     * first packet of the peer connects it, with an event, or {@link #connect(long)} does.
     *
     * @throws IllegalStateException if it is not IDLE
     */
    public void prepare(Path agreed) {
        if (state != State.IDLE) {
            throw new IllegalStateException(
                    "queue pair is connected once: " + this + ", expected=state IDLE");
        }
        path = agreed;
        state = State.READY;
        responder.connect(agreed);
    }

    /**
     * As {@link #prepare}, for a peer of which nothing is known when {@link #connect(long)}
     * connects it: whether it is there is asked only after its first packet.
     *
     * @throws IllegalStateException if it is not IDLE
     */
    public void prepareUnheard(Path agreed) {
        prepare(agreed);
        requester.awaitFirstPacket();
    }

    /**
     * Connects it with its peer, which is known to be ready: requests are sent from now on. Does
     * nothing unless it is READY.
     */
    public void connect(long nowNanos) {
        if (state == State.READY && path != null) {
            state = State.CONNECTED;
            requester.connect(path, nowNanos);
            update();
        }
    }

    /**
     * Connects it with a peer that is known to be ready.
     *
     * @throws IllegalStateException if it is not IDLE
     */
    public void connect(Path agreed, long nowNanos) {
        prepare(agreed);
        connect(nowNanos);
    }

    /**
     * Limits the wait of its messages for a receive of the peer, in place of the path and the
     * attachment.
     *
     * @param retries 0 to 6 times the timer; 7 for no limit
     * @param timer of the peer
     */
    public void limitReceiverNotReady(int retries, RnrTimer timer) {
        requester.limitReceiverNotReady(retries, timer);
    }

    /**
     * Queues a request of any kind but a receive.
     *
     * @return null if it was accepted; NOT_CONNECTED in another state than CONNECTED, by a ready
     *     refusal; AGAIN if the send queue is full, by a ready refusal; INVALID_VALUE if it is
     *     longer than 2^31 bytes; NOT_SUPPORTED for reads and atomic operations if the peer answers
     *     none
     */
    public @Nullable Refusal submit(WorkRequest request) {
        if (state != State.CONNECTED) {
            return NOT_CONNECTED;
        }
        Refusal refusal = requester.submit(request);
        update();
        return refusal;
    }

    /**
     * Takes a packet of the peer that is for this queue pair and has a right ICRC.
     *
     * @param packet of a reliable connection: its role is REQUEST or RESPONSE
     */
    public void receive(Packet packet, long nowNanos) {
        counters.received(packet.bytes());
        switch (state) {
            case IDLE -> {}
            case READY -> {
                connect(nowNanos);
                events.contacted(this, nowNanos);
                if (state == State.CONNECTED) {
                    receiveConnected(packet, nowNanos);
                }
            }
            case CONNECTED -> receiveConnected(packet, nowNanos);
            case ENDED -> responder.refuseAgain(packet);
        }
        update();
    }

    /**
     * Memory of a task may be closed by its owner, and a mapped file be cut, at any time: that ends
     * this connection, and no other.
     */
    private void receiveConnected(Packet packet, long nowNanos) {
        requester.heard(nowNanos);
        refusals = 0;
        boolean request = packet.opcode().role() == Opcode.Role.REQUEST;
        try {
            if (request) {
                responder.request(packet, nowNanos);
            } else {
                requester.answer(packet, nowNanos);
            }
        } catch (RuntimeException | InternalError e) {
            failLocally(e, request ? NO_POSITION : requester.oldest(), nowNanos);
            if (!isOfMemory(e)) {
                update();
                throw e;
            }
        }
    }

    /** Whether access to memory throws it; else it is a defect, which the caller is to learn of. */
    private static boolean isOfMemory(Throwable thrown) {
        return thrown instanceof IllegalStateException
                || thrown instanceof IndexOutOfBoundsException
                || thrown instanceof WrongThreadException
                || thrown instanceof InternalError;
    }

    private void failLocally(Throwable thrown, long position, long nowNanos) {
        if (state == State.CONNECTED) {
            fail(Failure.LOCAL_MEMORY, position, "failure=" + Reason.of(thrown), nowNanos);
        }
    }

    /**
     * Nothing receives at the port of the peer, as an ICMP error says that quotes a packet. Two in
     * a row for packets that are not acknowledged end it: a peer that was killed.
     *
     * @param psn of the quoted packet: any number
     */
    public void refused(int psn, long nowNanos) {
        if (state == State.CONNECTED && requester.isAwaited(psn)) {
            refusals++;
            if (refusals == REFUSALS) {
                fail(Failure.PEER_GONE, requester.oldest(), "psn=" + psn, nowNanos);
            }
        }
    }

    /** Number of requests that were not completed. */
    int outstanding() {
        return requester.outstanding();
    }

    /**
     * The interface does not take one of its packets, since its MTU has become smaller.
     *
     * @param details of the packet and the interface, {@code key=value}
     */
    public void tooLong(String details, long nowNanos) {
        Path agreed = path;
        if (state == State.CONNECTED && agreed != null) {
            fail(
                    Failure.PACKET_TOO_LONG,
                    requester.oldest(),
                    "pathMtuBytes=" + agreed.mtuBytes() + ", " + details,
                    nowNanos);
            update();
        }
    }

    /** A deadline has passed, or a part of the time up to it. */
    void expire(long nowNanos) {
        if (state == State.CONNECTED) {
            requester.expire(nowNanos);
        }
        update();
    }

    /** Brings the agenda up to date. */
    private void update() {
        if (isTransmitWaiting()) {
            if (released) {
                agenda.addFirst(this);
            } else {
                agenda.add(this);
            }
        }
        if (state == State.CONNECTED && requester.hasDeadline()) {
            agenda.schedule(this, requester.deadline());
        }
    }

    private boolean isTransmitWaiting() {
        return responder.isReady() || isRequesterReady();
    }

    private boolean isRequesterReady() {
        return state == State.CONNECTED && requester.isReady();
    }

    /**
     * Sends packets, as long as the sink takes them. Comes back to the agenda if some are left.
     *
     * @param packet to be used for each
     * @return number of packets
     */
    public int transmit(PacketSink sink, OutgoingPacket packet, int maxPackets, long nowNanos) {
        int sent = 0;
        long bytes = 0;
        while (sent < maxPackets && sink.isReady()) {
            boolean requests = isRequesterReady();
            boolean answers = responder.isReady();
            if (!requests && !answers) {
                break;
            }
            boolean request = requests && (requestersTurn || !answers);
            try {
                if (next(packet, request, nowNanos)) {
                    sink.send(packet);
                    bytes += packet.bytes();
                    sent++;
                }
            } catch (RuntimeException | InternalError e) { // of memory, as in receiveConnected
                responder.clear();
                failLocally(e, request ? requester.latest() : NO_POSITION, nowNanos);
                if (!isOfMemory(e)) {
                    counters.sent(sent, bytes);
                    update();
                    throw e;
                }
            }
        }
        counters.sent(sent, bytes);
        update();
        return sent;
    }

    /** Writes the next packet, of the requester or the responder: both send by turns. */
    private boolean next(OutgoingPacket packet, boolean request, long nowNanos) {
        requestersTurn = !request;
        if (request) {
            requester.next(packet, sourcePort(), nowNanos);
            return true;
        }
        return responder.next(packet, nowNanos);
    }

    // ---- ends ----

    /**
     * Ends it as a failure.
     *
     * @param position in the send queue, of the request that has failed; or {@link #NO_POSITION},
     *     and then it is the receive under way, if any
     */
    void fail(Failure failure, long position, String details, long nowNanos) {
        state = State.ENDED;
        requester.flush(position, failure.failedStatus, failure.requestStatus);
        responder.flush(position == NO_POSITION ? failure.failedStatus : failure.requestStatus);
        if (responder.isReady()) {
            agenda.addFirst(this); // a peer that learns of the end takes no answer any more
        }
        if (!released) {
            events.ended(
                    this,
                    failure.connectionStatus,
                    failure.reason("queuePair=" + number + ", " + details),
                    nowNanos);
        }
    }

    /**
     * Ends it from this side, without an event: completes its requests and the receive under way,
     * and forgets answers that were not transmitted yet, but for acknowledgements of what was
     * executed: the peer would take that as failed. Idempotent.
     */
    public void end(Status requestStatus) {
        state = State.ENDED;
        released = true;
        requester.flush(NO_POSITION, requestStatus, requestStatus);
        responder.flush(requestStatus);
        responder.end();
        agenda.remove(this);
        update();
    }

    /** Forgets what it still has to send, once it has ended. */
    public void discard() {
        responder.clear();
        agenda.remove(this);
    }

    @Override
    public String toString() {
        return "queuePair=" + number + ", state=" + state;
    }
}
