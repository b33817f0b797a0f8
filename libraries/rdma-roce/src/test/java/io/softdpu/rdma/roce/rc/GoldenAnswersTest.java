package io.softdpu.rdma.roce.rc;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.Captures;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.simulation.TestMemory;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Captures of the Linux driver, in which a queue pair has the place of one side: it answers the
 * requests of the other side as Linux did, and sends the requests that Linux sent.
 */
class GoldenAnswersTest {
    /**
     * The driver's answers as they are here, by two rules. One negative acknowledgement is sent per
     * gap: none follows an RNR NAK for the packets behind it, which are no new gap. And each answer
     * to a read begins with a first packet: that to a repeated read too, which is a request of its
     * own.
     */
    private static List<String> asHere(String file, List<String> answers) {
        return switch (kindOf(file)) {
            case "nak-rnr-multi" ->
                    answers.stream().filter(answer -> !answer.contains("nak=0")).toList();
            case "loss-read-response" -> {
                if (answers.isEmpty()) {
                    yield answers;
                }
                List<String> changed = new ArrayList<>(answers);
                int again = changed.indexOf(changed.getLast()) + 1;
                changed.set(
                        again,
                        changed.get(again)
                                .replace(
                                        "READ_RESPONSE_MIDDLE 264",
                                        "READ_RESPONSE_FIRST 264 ok 1"));
                yield changed;
            }
            default -> answers;
        };
    }

    /**
     * Where the driver's requests come in another order, and why. Each request packet is the same,
     * and the first of each in the same order.
     */
    private static final Map<String, String> OTHER_ORDER =
            Map.of(
                    "nak-rnr-multi",
                    "all packets of a message are sent before an answer comes, and again only when"
                            + " the timer of an RNR NAK has passed",
                    "nak-psn-loss",
                    "all packets of a message are sent before an answer comes");

    private record Captured(String from, String to, byte[] bytes) {
        Packet view() {
            Packet packet = new Packet();
            assertThat(packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length)).isNull();
            return packet;
        }

        Opcode.Role role() {
            return view().opcode().role();
        }
    }

    static List<String> files() {
        return Captures.names();
    }

    private static List<Captured> packets(String file) {
        List<Captured> packets = new ArrayList<>();
        Captures.read(
                file,
                each -> {
                    Packet packet = each.packet();
                    if (packet.opcode() != Opcode.DATAGRAM) {
                        packets.add(
                                new Captured(
                                        each.source(),
                                        each.destination(),
                                        packet.memory()
                                                .asSlice(packet.at(), packet.bytes())
                                                .toArray(ValueLayout.JAVA_BYTE)));
                    }
                });
        return packets;
    }

    private static Set<String> sides(List<Captured> packets) {
        Set<String> sides = new LinkedHashSet<>();
        packets.forEach(packet -> sides.add(packet.from()));
        return sides;
    }

    private static List<Captured> of(List<Captured> packets, String from, Opcode.Role role) {
        return packets.stream()
                .filter(packet -> packet.from().equals(from) && packet.role() == role)
                .toList();
    }

    private static String kindOf(String file) {
        return file.substring(3, file.length() - ".pcap".length());
    }

    private static int mtuOf(String file) {
        return file.contains("mtu4096") ? 4096 : 1024;
    }

    private static boolean isOtherOrder(String file) {
        return OTHER_ORDER.keySet().stream().anyMatch(kindOf(file)::startsWith);
    }

    // ---- the responder ----

    @ParameterizedTest
    @MethodSource("files")
    void shouldAnswerAsTheDriver(String file) {
        List<Captured> packets = packets(file);
        for (String side : sides(packets)) {
            List<String> expected =
                    of(packets, side, Opcode.Role.RESPONSE).stream()
                            .map(packet -> text(packet.view()))
                            .toList();
            assertThat(answers(file, packets, side))
                    .as("%s, answers of %s", file, side)
                    .isEqualTo(asHere(file, expected));
        }
    }

    private static List<String> answers(String file, List<Captured> packets, String side) {
        Side tested = new Side(file);
        List<Captured> reached = new ArrayList<>(packets);
        reached.removeAll(lost(file, packets, side));
        for (Captured each : packets) {
            if (each.to().equals(side) && each.role() == Opcode.Role.REQUEST) {
                tested.connectFor(each.view(), false);
            }
        }
        for (int i = 0; i < reached.size(); i++) {
            Captured each = reached.get(i);
            if (each.to().equals(side) && each.role() == Opcode.Role.REQUEST) {
                tested.expect(reached.subList(i + 1, reached.size()), side, each.view());
                tested.receive(each.view());
            }
        }
        return tested.sent;
    }

    /**
     * Requests that are in a capture, made at the sender, and have not reached the other side: when
     * that says that a PSN is missing, its last packet before; and all later ones where they got
     * lost until the end.
     */
    private static List<Captured> lost(String file, List<Captured> packets, String side) {
        List<Captured> lost = new ArrayList<>();
        Map<Integer, Captured> last = new HashMap<>();
        Set<Integer> notReady = new LinkedHashSet<>();
        int missing = -1;
        int misses = 0;
        for (Captured each : packets) {
            Packet view = each.view();
            if (each.to().equals(side) && each.role() == Opcode.Role.REQUEST) {
                last.put(view.psn(), each);
                if (view.psn() == missing && misses == 2 && kindOf(file).endsWith("exceeded")) {
                    lost.add(each);
                }
            } else if (each.from().equals(side) && view.opcode() == Opcode.ACKNOWLEDGE) {
                if (Syndrome.isReceiverNotReady(view.syndrome())) {
                    notReady.add(view.psn());
                } else if (view.syndrome() == Syndrome.negative(Syndrome.SEQUENCE_ERROR)
                        && !notReady.contains(view.psn())) {
                    missing = view.psn();
                    misses++;
                    lost.add(Objects.requireNonNull(last.get(missing)));
                }
            }
        }
        return lost;
    }

    // ---- the requester ----

    @ParameterizedTest
    @MethodSource("files")
    void shouldSendTheRequestsOfTheDriver(String file) {
        List<Captured> packets = packets(file);
        for (String side : sides(packets)) {
            List<Captured> requests = of(packets, side, Opcode.Role.REQUEST);
            if (requests.isEmpty()) {
                continue;
            }
            Side tested = new Side(file);
            tested.connectFor(requests.getFirst().view(), true);
            List<WorkRequest> submitted = workRequests(requests, mtuOf(file), tested.statuses::add);
            submitted.forEach(tested::submit);
            List<Captured> reached = new ArrayList<>(packets);
            reached.removeAll(lostData(packets, side));
            for (Captured each : reached) {
                if (each.to().equals(side) && each.role() == Opcode.Role.RESPONSE) {
                    tested.receive(each.view());
                    tested.passTime();
                }
            }
            List<String> expected = requests.stream().map(packet -> text(packet.view())).toList();
            assertThat(tested.sent.stream().distinct().toList())
                    .as("%s, requests of %s", file, side)
                    .isEqualTo(expected.stream().distinct().toList());
            if (!isOtherOrder(file)) {
                assertThat(tested.sent).as("%s, requests of %s", file, side).isEqualTo(expected);
            }
            String kind = kindOf(file);
            boolean fails =
                    kind.startsWith("nak-access")
                            || kind.startsWith("nak-rem-op")
                            || kind.endsWith("exceeded");
            assertThat(tested.statuses)
                    .as("%s, completions of %s", file, side)
                    .hasSize(kind.endsWith("exceeded") ? 0 : submitted.size())
                    .allMatch(status -> (status == Status.SUCCESS) != fails);
        }
    }

    /** Data of reads that have not reached a side, which asks for them again. */
    private static List<Captured> lostData(List<Captured> packets, String side) {
        List<Captured> lost = new ArrayList<>();
        Map<Integer, Captured> last = new HashMap<>();
        for (Captured each : packets) {
            Packet view = each.view();
            if (each.to().equals(side) && each.role() == Opcode.Role.RESPONSE) {
                last.put(view.psn(), each);
            } else if (view.opcode() == Opcode.READ_REQUEST && last.containsKey(view.psn())) {
                lost.add(last.get(view.psn()));
            }
        }
        return lost;
    }

    /** The requests whose packets these are, repeats left out. */
    private static List<WorkRequest> workRequests(
            List<Captured> packets, int mtuBytes, WorkRequest.Sink sink) {
        List<WorkRequest> requests = new ArrayList<>();
        int next = packets.getFirst().view().psn();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        Packet first = packets.getFirst().view();
        for (Captured each : packets) {
            Packet packet = each.view();
            if (packet.psn() != next) {
                continue;
            }
            if (packet.opcode().isFirst()) {
                first = packet;
                data.reset();
            }
            int psns = 1;
            if (packet.opcode() == Opcode.READ_REQUEST) {
                data.writeBytes(new byte[(int) packet.lengthBytes()]);
                psns = Math.max(1, (data.size() + mtuBytes - 1) / mtuBytes);
            } else {
                data.writeBytes(payload(packet));
            }
            next = SequenceNumber.add(next, psns);
            if (packet.opcode().isLast()) {
                requests.add(workRequest(first, packet, data.toByteArray(), sink));
            }
        }
        return requests;
    }

    private static WorkRequest workRequest(
            Packet first, Packet last, byte[] data, WorkRequest.Sink sink) {
        WorkRequest.Kind kind =
                switch (last.opcode()) {
                    case SEND_LAST, SEND_ONLY -> WorkRequest.Kind.SEND;
                    case SEND_LAST_IMMEDIATE, SEND_ONLY_IMMEDIATE ->
                            WorkRequest.Kind.SEND_IMMEDIATE;
                    case WRITE_LAST, WRITE_ONLY -> WorkRequest.Kind.WRITE;
                    case WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE ->
                            WorkRequest.Kind.WRITE_IMMEDIATE;
                    case READ_REQUEST -> WorkRequest.Kind.READ;
                    case COMPARE_SWAP -> WorkRequest.Kind.COMPARE_AND_SWAP;
                    case FETCH_ADD -> WorkRequest.Kind.FETCH_AND_ADD;
                    default -> throw new AssertionError("no request: " + last.opcode());
                };
        WorkRequest request = new WorkRequest(kind, sink, 1);
        request.lengthBytes = data.length;
        if (last.opcode().has(ExtensionHeader.IMMEDIATE)) {
            request.immediate = last.immediate();
        }
        if (last.opcode().has(ExtensionHeader.ATOMIC_ETH)) {
            boolean swap = kind == WorkRequest.Kind.COMPARE_AND_SWAP;
            request.lengthBytes = Long.BYTES;
            request.operand = swap ? last.compare() : last.swapOrAdd();
            request.swap = swap ? last.swapOrAdd() : 0;
        }
        byte[] local = request.lengthBytes == data.length ? data : new byte[Long.BYTES];
        request.local.add(MemorySegment.ofArray(local), 0, local.length);
        if (first.opcode().has(ExtensionHeader.RETH)
                || first.opcode().has(ExtensionHeader.ATOMIC_ETH)) {
            request.remote = TestMemory.open(first.key(), first.address(), 8);
        }
        return request;
    }

    private static byte[] payload(Packet packet) {
        return packet.memory()
                .asSlice(packet.payloadAt(), packet.payloadBytes())
                .toArray(ValueLayout.JAVA_BYTE);
    }

    /** All that a receiver sees of a packet but its flags, queue pair and padding. */
    private static String text(Packet packet) {
        String text = ScriptedPeer.text(packet);
        Opcode opcode = packet.opcode();
        if (opcode.has(ExtensionHeader.RETH) || opcode.has(ExtensionHeader.ATOMIC_ETH)) {
            text += " key=" + packet.key();
        }
        if (opcode.has(ExtensionHeader.ATOMIC_ETH)) {
            text += " swap=" + packet.swapOrAdd() + " compare=" + packet.compare();
        }
        if (opcode.has(ExtensionHeader.IMMEDIATE)) {
            text += " immediate=" + packet.immediate();
        }
        return opcode.hasPayload() ? text + " " + Arrays.hashCode(payload(packet)) : text;
    }

    // ---- the queue pair ----

    /** A queue pair in the place of one side, whose instance grants what the driver granted. */
    private static final class Side
            implements ReceiveListener, ConnectionEvents, PacketSink, PeerMemory, RemoteKeys {
        private static final int MEMORY_BYTES = 1 << 20;

        private final String file;
        private final List<String> sent = new ArrayList<>();
        private final List<Status> statuses = new ArrayList<>();
        private final Map<Integer, TestMemory> memories = new HashMap<>();
        private final Agenda agenda = new Agenda(1);
        private final QueuePair queuePair;
        private boolean receiveIsThere = true;
        private boolean atomicSeen;
        private long nowNanos;

        Side(String file) {
            this.file = file;
            queuePair =
                    new QueuePair(
                            0x11,
                            null,
                            new Attachment(
                                    this,
                                    this::takeReceive,
                                    this,
                                    this,
                                    new Copier(),
                                    TestHost.ALL,
                                    64,
                                    RnrTimer.LONGEST),
                            new Limits(
                                    1024,
                                    1 << 20,
                                    1 << 16,
                                    16,
                                    16,
                                    2_000_000_000,
                                    new RnrTimer(12)),
                            this,
                            agenda);
        }

        /** Connects for the first request of one direction. */
        void connectFor(Packet request, boolean requester) {
            if (queuePair.state() == QueuePair.State.IDLE) {
                queuePair.connect(
                        new Path(
                                new Gid(0, 1),
                                0x22,
                                requester ? request.psn() : 0,
                                requester ? 0 : request.psn(),
                                mtuOf(file),
                                Path.ANY_IDENTIFICATION,
                                16,
                                16,
                                7,
                                Path.DEFAULT_TIMEOUT_NANOS,
                                7),
                        nowNanos);
            }
        }

        void submit(WorkRequest request) {
            assertThat(queuePair.submit(request)).isNull();
            transmit();
        }

        void receive(Packet packet) {
            queuePair.receive(packet, nowNanos);
            transmit();
        }

        /** Lets the wait after an RNR NAK pass. */
        void passTime() {
            nowNanos += 1_000_000;
            agenda.expire(nowNanos, Integer.MAX_VALUE);
            transmit();
        }

        private void transmit() {
            queuePair.transmit(this, new OutgoingPacket(16), 1000, nowNanos);
        }

        /** Learns from the driver's answers: its memory, and whether it had a receive. */
        void expect(List<Captured> later, String side, Packet request) {
            List<Captured> answers = of(later, side, Opcode.Role.RESPONSE);
            receiveIsThere =
                    answers.isEmpty()
                            || !answers.getFirst().view().opcode().has(ExtensionHeader.AETH)
                            || !Syndrome.isReceiverNotReady(answers.getFirst().view().syndrome());
            Opcode opcode = request.opcode();
            if (opcode == Opcode.READ_REQUEST) {
                for (Captured each : answers) {
                    Packet answer = each.view();
                    int index = SequenceNumber.distance(request.psn(), answer.psn());
                    long at = (long) index * mtuOf(file);
                    if (answer.opcode().hasPayload()
                            && index >= 0
                            && at + answer.payloadBytes() <= request.lengthBytes()) {
                        byte[] bytes = payload(answer);
                        MemorySegment.copy(
                                MemorySegment.ofArray(bytes),
                                0,
                                memoryOf(request).memory(),
                                request.address() + at - memoryOf(request).address(),
                                bytes.length);
                    }
                }
            } else if (opcode.has(ExtensionHeader.ATOMIC_ETH) && !atomicSeen) {
                atomicSeen = true;
                memoryOf(request)
                        .memory()
                        .set(
                                ValueLayout.JAVA_LONG,
                                request.address() - memoryOf(request).address(),
                                answers.getFirst().view().valueBefore());
            }
        }

        private TestMemory memoryOf(Packet request) {
            return memories.computeIfAbsent(
                    request.key(),
                    key ->
                            TestMemory.open(
                                    key,
                                    (request.address() & ~7L) - MEMORY_BYTES / 2,
                                    MEMORY_BYTES));
        }

        @Override
        public @Nullable GrantedMemory find(
                int key, long address, long lengthBytes, AccessFlag right) {
            if (file.contains("nak-access")) {
                return null;
            }
            TestMemory memory =
                    memories.computeIfAbsent(
                            key,
                            each ->
                                    TestMemory.open(
                                            each,
                                            (address & ~7L) - MEMORY_BYTES / 2,
                                            MEMORY_BYTES));
            assertThat(memory.grants(address, lengthBytes, right)).isTrue();
            return memory;
        }

        private @Nullable WorkRequest takeReceive() {
            if (!receiveIsThere) {
                return null;
            }
            int bytes = file.contains("too-small") ? 16 : MEMORY_BYTES;
            WorkRequest receive = new WorkRequest(WorkRequest.Kind.RECEIVE, status -> {}, 1);
            receive.local.add(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
            receive.lengthBytes = bytes;
            return receive;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void send(OutgoingPacket packet) {
            byte[] bytes = new byte[packet.bytes()];
            MemorySegment memory = MemorySegment.ofArray(bytes);
            MemorySegment.copy(packet.headers(), 0, memory, 0, packet.headerBytes());
            long at = packet.headerBytes();
            for (int i = 0; i < packet.pieces(); i++) {
                MemorySegment.copy(
                        packet.memory(i), packet.offset(i), memory, at, packet.length(i));
                at += packet.length(i);
            }
            Packet view = new Packet();
            assertThat(view.wrap(memory, 0, bytes.length)).isNull();
            assertThat(view.flags()).isEqualTo(Headers.MIGRATED);
            sent.add(text(view));
        }

        @Override
        public void received(QueuePair from, WorkRequest receive, Status status) {}

        @Override
        public void contacted(QueuePair from, long now) {}

        @Override
        public void ended(QueuePair from, Status status, String reason, long now) {}

        @Override
        public int key(RemoteMemory memory) {
            return Objects.requireNonNull((TestMemory) memory).key();
        }

        @Override
        public long address(RemoteMemory memory) {
            return ((TestMemory) memory).address();
        }
    }
}
