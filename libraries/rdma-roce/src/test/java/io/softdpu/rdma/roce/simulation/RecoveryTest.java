package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Cost of losses: how many packets a transfer of long messages takes over a network in virtual
 * time, on which a whole window is under way.
 */
class RecoveryTest {
    private static final int MTU = 256;
    private static final int WINDOW = 256;
    private static final int MESSAGE_PACKETS = 16;
    private static final int QUEUE = 32;
    private static final int RESOURCES = 16;
    private static final long PACKET_NANOS = 1_000;

    /** Of one way: two of them last longer than a window. */
    private static final long DELAY_NANOS = 200_000;

    private static final int KEY = 0x77;
    private static final long ADDRESS = 0x10000;

    /** Two hosts and one connection, of which the first is the requester. */
    private static final class Pair {
        final List<String> failures = new ArrayList<>();
        final VirtualNetwork network;
        final TestMemory remote;
        final TestHost requester;
        final TestHost responder;
        final QueuePair requests;
        final QueuePair answers;
        int completed;

        final int messageBytes;

        /** What the requester has asked for by reads: packets by the first PSN. */
        final NavigableMap<Integer, Integer> parts = new TreeMap<>();

        /** Where each part was asked for last, by the same. */
        final Map<Integer, Integer> latest = new HashMap<>();

        int partsAgain;

        Pair(SeededRandom random, VirtualNetwork.Faults faults, int messagePackets) {
            messageBytes = messagePackets * MTU;
            network = new VirtualNetwork(random, faults, 0);
            remote = TestMemory.open(KEY, ADDRESS, messageBytes);
            requester = host(1);
            responder = host(2);
            responder.grant(remote);
            requests = create(requester);
            answers = create(responder);
            requests.connect(path(responder, answers, 100, 0xffff00), 0);
            answers.connect(path(requester, requests, 0xffff00, 100), 0);
        }

        private TestHost host(int index) {
            Gid gid = new Gid(0, 0xffff_0a00_0000L + index);
            Limits limits =
                    new Limits(
                            WINDOW,
                            1 << 20,
                            MESSAGE_PACKETS * MTU,
                            16,
                            4,
                            Long.MAX_VALUE / 4,
                            RnrTimer.atLeast(1_280_000));
            TestHost host =
                    new TestHost(
                            gid,
                            0x100 * index,
                            4,
                            limits,
                            new Watching(network.sinkOf(gid)),
                            (from, receive, status) -> {
                                check("receive", status);
                            },
                            new NoManagement());
            network.add(host.adapter());
            return host;
        }

        /** Sink that looks at requests of reads. */
        private final class Watching implements PacketSink {
            private final PacketSink sink;

            Watching(PacketSink sink) {
                this.sink = sink;
            }

            @Override
            public boolean isReady() {
                return sink.isReady();
            }

            @Override
            public void send(OutgoingPacket packet) {
                sink.send(packet);
                if (packet.opcode() == Opcode.READ_REQUEST) {
                    ByteBuffer headers = packet.headers().asByteBuffer();
                    int psn = headers.getInt(8) & SequenceNumber.MAX;
                    asked(
                            psn,
                            headers.getInt(Opcode.READ_REQUEST.offset(ExtensionHeader.RETH) + 12)
                                    / MTU);
                }
            }
        }

        private void asked(int psn, int packets) {
            Map.Entry<Integer, Integer> before = parts.floorEntry(psn);
            int begin = before == null ? 0 : before.getKey();
            int end = before == null ? 0 : begin + before.getValue();
            if (psn >= end) {
                parts.put(psn, packets);
            } else {
                partsAgain++;
                assertThat(psn + packets).as("end of a part from %d", psn).isLessThanOrEqualTo(end);
                assertThat(psn)
                        .as("begin, in the part from %d", begin)
                        .isGreaterThanOrEqualTo(latest.getOrDefault(begin, 0));
                latest.put(begin, psn);
            }
        }

        private static QueuePair create(TestHost host) {
            return Objects.requireNonNull(
                    host.adapter()
                            .create(host.attachment(TestHost.ALL, QUEUE, RnrTimer.LONGEST), null));
        }

        private static Path path(TestHost peer, QueuePair to, int sendPsn, int receivePsn) {
            return new Path(
                    peer.adapter().gid(),
                    to.number(),
                    sendPsn,
                    receivePsn,
                    MTU,
                    Path.ANY_IDENTIFICATION,
                    RESOURCES,
                    RESOURCES,
                    7,
                    Path.DEFAULT_TIMEOUT_NANOS,
                    7);
        }

        private void check(String what, Status status) {
            if (status != Status.SUCCESS) {
                failures.add(what + " " + status);
            }
        }

        private WorkRequest request(WorkRequest.Kind kind) {
            WorkRequest request =
                    new WorkRequest(
                            kind,
                            status -> {
                                completed++;
                                check(kind.toString(), status);
                            },
                            1);
            request.local.add(MemorySegment.ofArray(new byte[messageBytes]), 0, messageBytes);
            request.lengthBytes = messageBytes;
            request.remote = remote;
            return request;
        }

        /** Transfers messages, as many at a time as the queue holds. */
        void transfer(WorkRequest.Kind kind, int messages) {
            completed = 0;
            int submitted = 0;
            while (completed < messages && failures.isEmpty()) {
                while (submitted < messages && submitted - completed < QUEUE) {
                    if (kind == WorkRequest.Kind.SEND) {
                        responder.receives().add(request(WorkRequest.Kind.RECEIVE));
                    }
                    assertThat(requests.submit(request(kind))).isNull();
                    submitted++;
                }
                step();
            }
            assertThat(failures).isEmpty();
        }

        /** Each host sends a packet, if it has one; else time passes until something happens. */
        private void step() {
            long now = network.nowNanos();
            boolean busy = requester.adapter().transmit(1, now);
            busy |= responder.adapter().transmit(1, now);
            long next = now + PACKET_NANOS;
            if (!busy) {
                next = Math.max(next, nextEvent());
            }
            network.advanceTo(next);
            network.deliver();
            requester.adapter().expire(next);
            responder.adapter().expire(next);
        }

        private long nextEvent() {
            long next = network.hasDelivery() ? network.nextDelivery() : Long.MAX_VALUE;
            long deadline = requester.adapter().nextDeadline();
            return deadline == Adapter.NO_DEADLINE ? next : Math.min(next, deadline);
        }

        /** Packets of the data that were sent, those of answers to reads included. */
        long sent(WorkRequest.Kind kind) {
            QueuePair sender = kind == WorkRequest.Kind.READ ? answers : requests;
            return sender.counters().get(ConnectionCounter.PACKETS_SENT);
        }
    }

    private static final class NoManagement implements Management {
        @Override
        public void contacted(QueuePair queuePair, long nowNanos) {}

        @Override
        public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
            throw new AssertionError("connection ends: status=" + status + ", reason=" + reason);
        }

        @Override
        public void datagram(Packet datagram, Gid source, long nowNanos) {}

        @Override
        public long nextDeadline() {
            return Adapter.NO_DEADLINE;
        }

        @Override
        public void expire(long nowNanos, int limit) {}
    }

    private static VirtualNetwork.Faults faults(double loss, double corruption, double late) {
        return new VirtualNetwork.Faults(loss, 0, corruption, DELAY_NANOS, 0, late);
    }

    /** In packets per packet of the messages; a corrupted one is lost. */
    @ParameterizedTest
    @CsvSource({
        "WRITE, 0, 0, 0, 0", "SEND, 0, 0, 0, 0", "READ, 0, 0, 0, 0",
        "WRITE, 0.01, 0, 0, 0.3", "SEND, 0, 0.01, 0, 0.3", "READ, 0.01, 0, 0, 0.3",
        "WRITE, 0.1, 0, 0, 1.5", "SEND, 0, 0.1, 0, 1.5", "READ, 0.1, 0, 0, 1.5",
        "WRITE, 0, 0, 0.01, 0.35", "SEND, 0, 0, 0.01, 0.35", "READ, 0, 0, 0.01, 0.35"
    })
    void shouldSendFewPacketsAgain(
            WorkRequest.Kind kind, double loss, double corruption, double late, double most) {
        int messages = 500;
        Pair pair = new Pair(new SeededRandom(1), faults(loss, corruption, late), MESSAGE_PACKETS);

        pair.transfer(kind, messages);

        double again = pair.sent(kind) / (double) (messages * MESSAGE_PACKETS) - 1;
        assertThat(again).as("packets, for each one").isBetween(0.0, most);
    }

    /** Linux drops others, and those that begin before the last one. */
    @Test
    void shouldAskForReadsAgainWithinWhatItHasAskedForBefore(SeededRandom random) {
        Pair pair = new Pair(random, faults(0.005, 0, 0), 3 * WINDOW);

        pair.transfer(WorkRequest.Kind.READ, 20);

        assertThat(pair.parts.values()).as("sizes").contains(WINDOW / 2, WINDOW / 8);
        assertThat(pair.partsAgain).isGreaterThan(10);
    }
}
