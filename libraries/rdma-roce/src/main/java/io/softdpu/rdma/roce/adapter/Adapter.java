package io.softdpu.rdma.roce.adapter;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.rc.Agenda;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Network adapter without its socket: received packets and the time go in, packets for a sink and
 * the next deadline come out.
 *
 * <p>Received packets cause answers, and submitted requests packets, that wait for {@link
 * #transmit}: queue pairs have turns of a few packets, and none sends while the sink is not ready.
 * One that has ended sends its last acknowledgements before datagrams, which tell its peer of the
 * end.
 *
 * <p>Belongs to one thread at a time. Times are those of {@link System#nanoTime}: they may
 * overflow. Allocates nothing per packet of a connection, request or timer.
 */
public final class Adapter {
    /** There is no deadline. */
    public static final long NO_DEADLINE = Long.MIN_VALUE;

    /** Packets that a queue pair sends before the next has its turn. */
    private static final int PACKETS_PER_TURN = 16;

    private static final int QUEUE_PAIR_OFFSET = 4;
    private static final int PSN_OFFSET = 8;
    private static final int MESSAGE_OFFSET = Opcode.DATAGRAM.headerBytes();

    private final AdapterConfig config;
    private final PacketSink sink;
    private final PacketCheck check;
    private final QueuePairTable queuePairs;
    private final Agenda agenda;
    private final DatagramQueue datagrams;
    private final Packet received = new Packet();
    private final OutgoingPacket outgoing;
    private final long[] counters = new long[Counter.values().length];

    /** Of queue pairs that were destroyed. */
    private final long[] ofDestroyed = new long[ConnectionCounter.values().length];

    private @Nullable Management management;

    /** An adapter without queue pairs. */
    public Adapter(AdapterConfig config, PacketSink sink, PacketCheck check) {
        this.config = config;
        this.sink = sink;
        this.check = check;
        queuePairs = new QueuePairTable(config.maxQueuePairs(), config.firstNumber());
        agenda = new Agenda(config.maxQueuePairs());
        datagrams = new DatagramQueue(config.maxDatagrams());
        outgoing = new OutgoingPacket(config.limits().maxPieces());
    }

    /** Sets the management of its connections; once, before the first queue pair. */
    public void manage(Management manager) {
        management = manager;
    }

    private Management management() {
        return Objects.requireNonNull(management, "adapter without management");
    }

    /** Its address. */
    public Gid gid() {
        return config.gid();
    }

    /** What it has counted. */
    @SuppressWarnings("EnumOrdinal") // index of an array: counted per packet
    public long count(Counter counter) {
        return counters[counter.ordinal()];
    }

    /**
     * What its queue pairs have counted in all, those included that were destroyed.
     *
     * @return in the order of {@link ConnectionCounter}
     */
    public long[] totals() {
        long[] totals = ofDestroyed.clone();
        queuePairs.addCounts(totals);
        return totals;
    }

    /** Number of queue pairs that were created and not destroyed. */
    public int queuePairs() {
        return queuePairs.count();
    }

    // ---- queue pairs ----

    /**
     * Creates a queue pair without a peer.
     *
     * @param owner for {@link QueuePair#owner}
     * @return null if all places are taken
     */
    public @Nullable QueuePair create(Attachment attachment, @Nullable Object owner) {
        int number = queuePairs.takeNumber();
        if (number < 0) {
            return null;
        }
        QueuePair queuePair =
                new QueuePair(number, owner, attachment, config.limits(), management(), agenda);
        queuePairs.put(queuePair);
        return queuePair;
    }

    /**
     * Ends a queue pair and forgets it. Its place is free at once, its number comes back last.
     * Idempotent.
     */
    public void destroy(QueuePair queuePair) {
        queuePair.end(Status.CONNECTION_ABORTED);
        queuePair.discard();
        if (queuePairs.remove(queuePair)) {
            queuePair.counters().addTo(ofDestroyed);
        }
    }

    // ---- connection management ----

    /**
     * Sends a message of connection management to queue pair 1 of an adapter.
     *
     * @param payload 256 bytes at the offset, which are copied
     * @return whether there was room; else it counts as lost
     */
    public boolean sendDatagram(Gid destination, MemorySegment payload, long at) {
        return datagrams.add(destination, payload, at);
    }

    // ---- received packets ----

    /**
     * Takes a datagram that was received on the port of RoCE v2.
     *
     * @param memory has the datagram's payload, and stays as it is during the call
     * @param view of the same memory, from its beginning on; its position and limit change
     * @param at offset of the payload
     * @param bytes its size
     * @param sourceHigh address of the sender, as in {@link Gid}
     * @param sourcePort UDP port of the sender
     * @param congested whether the IP header has a mark of congestion
     */
    public void receive(
            MemorySegment memory,
            ByteBuffer view,
            long at,
            int bytes,
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            boolean congested,
            long nowNanos) {
        increment(Counter.RECEIVED);
        if (congested) {
            increment(Counter.CONGESTION_MARK);
        }
        if (received.wrap(memory, at, bytes) != null) {
            increment(Counter.MALFORMED);
            return;
        }
        switch (received.opcode().role()) {
            case REQUEST, RESPONSE -> connected(view, sourceHigh, sourceLow, sourcePort, nowNanos);
            case DATAGRAM -> datagram(view, sourceHigh, sourceLow, sourcePort, nowNanos);
            case NOTIFICATION -> increment(Counter.CONGESTION_NOTIFICATION);
        }
    }

    private void connected(
            ByteBuffer view, long sourceHigh, long sourceLow, int sourcePort, long nowNanos) {
        if (received.queuePair() == CmCodec.QUEUE_PAIR) {
            increment(Counter.WRONG_KIND);
            return;
        }
        QueuePair queuePair = queuePairs.get(received.queuePair());
        Path path = queuePair == null ? null : queuePair.path();
        if (queuePair == null || path == null) {
            increment(Counter.UNKNOWN_QUEUE_PAIR);
        } else if (path.peer().low() != sourceLow || path.peer().high() != sourceHigh) {
            increment(Counter.FOREIGN_SOURCE);
            queuePair.counters().increment(ConnectionCounter.FOREIGN_SOURCE);
        } else if (isIntact(view, sourceHigh, sourceLow, sourcePort, path.peerIdentifications())) {
            queuePair.receive(received, nowNanos);
        } else {
            queuePair.counters().increment(ConnectionCounter.BAD_ICRC);
        }
    }

    private void datagram(
            ByteBuffer view, long sourceHigh, long sourceLow, int sourcePort, long nowNanos) {
        if (received.queuePair() != CmCodec.QUEUE_PAIR || received.opcode() != Opcode.DATAGRAM) {
            increment(Counter.WRONG_KIND);
        } else if (isIntact(view, sourceHigh, sourceLow, sourcePort, Path.ANY_IDENTIFICATION)) {
            increment(Counter.DATAGRAM);
            management()
                    .datagram(received, Gid.ofSender(sourceHigh, sourceLow, sourcePort), nowNanos);
        }
    }

    private boolean isIntact(
            ByteBuffer view, long sourceHigh, long sourceLow, int sourcePort, int identifications) {
        boolean intact =
                check.isIntact(received, view, sourceHigh, sourceLow, sourcePort, identifications);
        if (!intact) {
            increment(Counter.BAD_ICRC);
        }
        return intact;
    }

    @SuppressWarnings("EnumOrdinal") // as above
    private void increment(Counter counter) {
        counters[counter.ordinal()]++;
    }

    /**
     * Takes an ICMP error by which nothing receives at the port of a peer.
     *
     * @param peer to which the quoted packet was sent
     * @param memory has what is quoted of the packet: any bytes
     * @param at offset of the quote
     * @param bytes its size
     */
    public void refused(Gid peer, MemorySegment memory, long at, int bytes, long nowNanos) {
        if (bytes < Headers.BTH_BYTES) {
            return;
        }
        int queuePair = memory.get(Headers.U32, at + QUEUE_PAIR_OFFSET) & SequenceNumber.MAX;
        if (queuePair != CmCodec.QUEUE_PAIR) {
            int psn = memory.get(Headers.U32, at + PSN_OFFSET) & SequenceNumber.MAX;
            management().refused(peer, queuePair, psn, nowNanos);
        } else if (bytes >= MESSAGE_OFFSET + CmCodec.MESSAGE_BYTES) {
            management().refused(peer, memory, at + MESSAGE_OFFSET, nowNanos);
        }
    }

    // ---- packets to send ----

    /** Whether packets may wait. */
    public boolean isTransmitWaiting() {
        return agenda.ready() > 0 || !datagrams.isEmpty();
    }

    /**
     * Sends packets that wait, as long as the sink takes them.
     *
     * @param maxPackets limit of packets
     * @return whether more may wait
     */
    public boolean transmit(int maxPackets, long nowNanos) {
        int left = maxPackets;
        while (left > 0 && agenda.isUrgent() && sink.isReady()) {
            left -= transmitOfOne(left, nowNanos);
        }
        while (left > 0 && !datagrams.isEmpty() && sink.isReady()) {
            datagrams.next(outgoing);
            sink.send(outgoing);
            left--;
        }
        while (left > 0 && agenda.ready() > 0 && sink.isReady()) {
            left -= transmitOfOne(left, nowNanos);
        }
        return isTransmitWaiting();
    }

    private int transmitOfOne(int left, long nowNanos) {
        QueuePair queuePair = agenda.takeReady();
        return queuePair == null
                ? 0
                : queuePair.transmit(sink, outgoing, Math.min(left, PACKETS_PER_TURN), nowNanos);
    }

    // ---- time ----

    /**
     * The next deadline, or {@link #NO_DEADLINE}. It may be too early: nothing expires then, and
     * there is a later one.
     */
    public long nextDeadline() {
        long managed = management().nextDeadline();
        if (!agenda.hasDeadline()) {
            return managed;
        }
        long deadline = agenda.nextDeadline();
        return managed != NO_DEADLINE && managed - deadline < 0 ? managed : deadline;
    }

    /** Lets all expire whose deadline has passed. */
    public void expire(long nowNanos) {
        expire(nowNanos, Integer.MAX_VALUE);
    }

    /**
     * Lets some expire whose deadline has passed; for others {@link #nextDeadline} stays in the
     * past.
     *
     * @param limit of deadlines, of queue pairs and of the management each
     */
    public void expire(long nowNanos, int limit) {
        agenda.expire(nowNanos, limit);
        long managed = management().nextDeadline();
        if (managed != NO_DEADLINE && nowNanos - managed >= 0) {
            management().expire(nowNanos, limit);
        }
    }
}
