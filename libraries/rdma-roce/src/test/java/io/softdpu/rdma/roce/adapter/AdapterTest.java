package io.softdpu.rdma.roce.adapter;

import static io.softdpu.rdma.roce.rc.ScriptedPeer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.rc.ReceiveListener;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Queue pairs by number, datagrams, counters and deadlines of an adapter. */
class AdapterTest implements PacketSink, ReceiveListener, Management {
    private static final Gid OWN = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid PEER = new Gid(0, 0xffff_0a00_0002L);
    private static final int PLACES = 4;
    private static final long SECOND = 1_000_000_000;

    private final List<String> sent = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final byte[] bytes = new byte[Headers.MAX_PACKET_BYTES];
    private long managementDeadline = Adapter.NO_DEADLINE;
    private int readyFor = Integer.MAX_VALUE;
    private final TestHost host =
            new TestHost(OWN, 0xfffffd, PLACES, Limits.defaults(4), this, this, this);
    private final Adapter adapter = host.adapter();

    private @Nullable QueuePair create() {
        return adapter.create(host.attachment(TestHost.ALL, 4, RnrTimer.LONGEST), "owner");
    }

    private QueuePair connected() {
        QueuePair queuePair = Objects.requireNonNull(create());
        queuePair.connect(
                new Path(PEER, 9, 1, 1, 256, 1, 1, 1, 7, Path.DEFAULT_TIMEOUT_NANOS, 7), 0);
        return queuePair;
    }

    private void deliver(Opcode opcode, int queuePair, Gid from, byte[] content) {
        OutgoingPacket packet = new OutgoingPacket(1);
        packet.begin(OWN, 50_000, opcode, queuePair, true, 1, content.length);
        packet.add(MemorySegment.ofArray(content), 0, content.length);
        ByteBuffer view = ByteBuffer.wrap(bytes);
        int size = new PacketWriter(from).write(packet, MemorySegment.ofArray(bytes), view, 0);
        deliver(size, from);
    }

    private void deliver(int size, Gid from) {
        adapter.receive(
                MemorySegment.ofArray(bytes),
                ByteBuffer.wrap(bytes),
                0,
                size,
                from.high(),
                from.low(),
                50_000,
                true,
                0);
    }

    private void transmit() {
        adapter.transmit(1000, 0);
    }

    // ---- numbers ----

    @Test
    void shouldUseANumberAgainAfterAllOthers() {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            QueuePair queuePair = Objects.requireNonNull(create());
            assertThat(queuePair.number()).isBetween(2, SequenceNumber.MAX);
            assertThat(numbers.add(queuePair.number())).isTrue();
            assertThat(queuePair.owner()).isEqualTo("owner");
            adapter.destroy(queuePair);
        }
        assertThat(adapter.queuePairs()).isZero();
    }

    @Test
    void shouldCreateNoMoreThanItHasPlaces() {
        List<QueuePair> created = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            created.add(Objects.requireNonNull(create()));
        }
        assertThat(create()).isNull();
        adapter.destroy(created.getFirst());
        adapter.destroy(created.getFirst());
        assertThat(create()).isNotNull();
        assertThat(create()).isNull();
        assertThat(adapter.queuePairs()).isEqualTo(PLACES);
    }

    // ---- received packets ----

    @Test
    void shouldAnswerNothingThatIsNotForAConnection() {
        QueuePair queuePair = connected();
        QueuePair idle = Objects.requireNonNull(create());
        deliver(Opcode.SEND_ONLY, queuePair.number() ^ PLACES, PEER, new byte[1]);
        deliver(Opcode.SEND_ONLY, idle.number(), PEER, new byte[1]);
        assertThat(adapter.count(Counter.UNKNOWN_QUEUE_PAIR)).isEqualTo(2);
        deliver(Opcode.SEND_ONLY, queuePair.number(), new Gid(0, PEER.low() + 1), new byte[1]);
        assertThat(adapter.count(Counter.FOREIGN_SOURCE)).isOne();
        deliver(Opcode.SEND_ONLY, 1, PEER, new byte[1]);
        deliver(Opcode.DATAGRAM, queuePair.number(), PEER, new byte[1]);
        deliver(Opcode.DATAGRAM_IMMEDIATE, 1, PEER, new byte[1]);
        assertThat(adapter.count(Counter.WRONG_KIND)).isEqualTo(3);
        deliver(Opcode.SEND_ONLY, queuePair.number(), PEER, new byte[1]);
        bytes[12] ^= 1;
        deliver(20, PEER);
        assertThat(adapter.count(Counter.BAD_ICRC)).isOne();
        deliver(19, PEER);
        assertThat(adapter.count(Counter.MALFORMED)).isOne();
        deliver(Opcode.CONGESTION_NOTIFICATION, queuePair.number(), PEER, new byte[0]);
        assertThat(adapter.count(Counter.CONGESTION_NOTIFICATION)).isOne();
        assertThat(adapter.count(Counter.RECEIVED))
                .isEqualTo(adapter.count(Counter.CONGESTION_MARK))
                .isEqualTo(10);
        assertThat(events).isEmpty();
        transmit();
        assertThat(sent).as("to the only good one").containsExactly("ACKNOWLEDGE");
    }

    @Test
    void shouldGiveDatagramsToManagement() {
        deliver(Opcode.DATAGRAM, 1, PEER, payload(CmCodec.MESSAGE_BYTES, 5));
        assertThat(events).containsExactly("datagram 256");
        assertThat(adapter.count(Counter.DATAGRAM)).isOne();
    }

    // ---- packets to send ----

    @Test
    void shouldSendCopiesOfDatagramsWithinALimit() {
        byte[] message = payload(CmCodec.MESSAGE_BYTES + 1, 5);
        MemorySegment memory = MemorySegment.ofArray(message);
        for (int i = 0; i < 4; i++) {
            assertThat(adapter.sendDatagram(PEER, memory, 1)).isTrue();
        }
        assertThat(adapter.sendDatagram(PEER, memory, 1)).isFalse();
        message[1] = 99;
        assertThat(adapter.isTransmitWaiting()).isTrue();
        transmit();
        assertThat(sent).containsExactly("DATAGRAM", "DATAGRAM", "DATAGRAM", "DATAGRAM");
        assertThat(adapter.isTransmitWaiting()).isFalse();
        Packet packet = new Packet();
        assertThat(packet.wrap(MemorySegment.ofArray(bytes), 0, 280)).isNull();
        assertThat(packet.queuePair()).isEqualTo(1);
        assertThat(packet.sourceQueuePair()).isEqualTo(1);
        assertThat(packet.queueKey()).isEqualTo(0x8001_0000);
        assertThat(packet.psn()).isEqualTo(3);
        assertThat(packet.memory().get(ValueLayout.JAVA_BYTE, packet.payloadAt()))
                .isEqualTo(payload(2, 5)[1]);
    }

    @Test
    void shouldLetQueuePairsSendByTurns() {
        QueuePair one = connected();
        QueuePair other = connected();
        submit(one, 40 * 256);
        submit(other, 256);
        readyFor = 18;
        transmit();
        assertThat(sent).hasSize(18).last().isEqualTo("SEND_MIDDLE");
        assertThat(sent.get(16)).as("the turn of the other").isEqualTo("SEND_ONLY");
        assertThat(adapter.isTransmitWaiting()).isTrue();
        readyFor = 100;
        transmit();
        assertThat(sent).hasSize(41).last().isEqualTo("SEND_LAST");
        assertThat(adapter.transmit(10, 0)).isFalse();
    }

    @Test
    void shouldSendAcknowledgementsOfEndedQueuePairsBeforeDatagrams() {
        QueuePair living = connected();
        QueuePair failed = connected();
        QueuePair ended = connected();
        submit(living, 1);
        deliver(Opcode.WRITE_ONLY, living.number(), PEER, new byte[0]);
        deliver(Opcode.SEND_LAST, failed.number(), PEER, new byte[1]);
        deliver(Opcode.WRITE_ONLY, ended.number(), PEER, new byte[0]);
        adapter.sendDatagram(PEER, MemorySegment.ofArray(new byte[CmCodec.MESSAGE_BYTES]), 0);
        ended.end(Status.CONNECTION_ABORTED);
        readyFor = 1;
        transmit();
        readyFor = 1;
        transmit();
        assertThat(sent).containsExactly("ACKNOWLEDGE", "ACKNOWLEDGE");
        readyFor = 10;
        transmit();
        assertThat(sent.subList(2, sent.size()))
                .containsExactly("DATAGRAM", "ACKNOWLEDGE", "SEND_ONLY");
        assertThat(adapter.isTransmitWaiting()).isFalse();
    }

    private void submit(QueuePair queuePair, int size) {
        WorkRequest request =
                new WorkRequest(
                        WorkRequest.Kind.SEND, status -> events.add("completed " + status), 1);
        request.local.add(MemorySegment.ofArray(new byte[size]), 0, size);
        request.lengthBytes = size;
        assertThat(queuePair.submit(request)).isNull();
    }

    // ---- deadlines ----

    @Test
    void shouldTellTheNextDeadlineOfAll() {
        assertThat(adapter.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
        managementDeadline = 3 * SECOND;
        assertThat(adapter.nextDeadline()).isEqualTo(3 * SECOND);
        QueuePair queuePair = connected();
        assertThat(adapter.nextDeadline()).isEqualTo(2 * SECOND);
        adapter.expire(2 * SECOND);
        assertThat(events).isEmpty();
        transmit();
        assertThat(sent).as("whether the peer is there").containsExactly("SEND_ONLY");
        managementDeadline = SECOND;
        assertThat(adapter.nextDeadline()).isEqualTo(SECOND);
        adapter.expire(SECOND);
        assertThat(events).containsExactly("expired");
        managementDeadline = Adapter.NO_DEADLINE;
        adapter.destroy(queuePair);
        assertThat(adapter.nextDeadline()).isEqualTo(Adapter.NO_DEADLINE);
    }

    @Test
    void shouldLetEachQueuePairExpireInTheOrderOfDeadlines() {
        List<QueuePair> pairs = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            pairs.add(connected());
        }
        adapter.destroy(pairs.get(1));
        adapter.expire(2 * SECOND);
        transmit();
        assertThat(sent).hasSize(PLACES - 1);
        long deadline = adapter.nextDeadline();
        assertThat(deadline).isGreaterThan(2 * SECOND);
        for (int i = 0; i < 100 && deadline != Adapter.NO_DEADLINE; i++) {
            adapter.expire(deadline);
            adapter.transmit(1000, deadline);
            deadline = adapter.nextDeadline();
        }
        assertThat(events)
                .as("all that got no answer")
                .hasSize(PLACES - 1)
                .allMatch(event -> event.startsWith("ended CONNECTION_RESET"));
        assertThat(deadline).isEqualTo(Adapter.NO_DEADLINE);
    }

    // ---- what the adapter tells ----

    @Override
    public boolean isReady() {
        return readyFor > 0;
    }

    @Override
    public void send(OutgoingPacket packet) {
        readyFor--;
        sent.add(packet.opcode().toString());
        new PacketWriter(OWN)
                .write(packet, MemorySegment.ofArray(bytes), ByteBuffer.wrap(bytes), 0);
    }

    @Override
    public void received(QueuePair queuePair, WorkRequest receive, Status status) {
        events.add("received " + status);
    }

    @Override
    public void contacted(QueuePair queuePair, long nowNanos) {
        events.add("contacted");
    }

    @Override
    public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
        events.add("ended " + status);
    }

    @Override
    public void datagram(Packet packet, Gid source, long nowNanos) {
        assertThat(source).isEqualTo(PEER);
        events.add("datagram " + packet.payloadBytes());
    }

    @Override
    public long nextDeadline() {
        return managementDeadline;
    }

    @Override
    public void expire(long nowNanos, int limit) {
        events.add("expired");
    }
}
