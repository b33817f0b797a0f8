package io.softdpu.rdma.roce.rc;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.simulation.TestMemory;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.FakeClock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Peer of a queue pair that follows the script of a test: it sends packets one by one, and sees
 * those of the queue pair as text.
 *
 * <p>{@code SEND_FIRST 100 [256]}: opcode, PSN, bytes of payload; {@code !} behind the PSN asks for
 * an acknowledgement; {@code @1000+64} is an address and a length; {@code ok}, {@code rnr=14},
 * {@code nak=0} are syndromes, with the MSN behind.
 */
public final class ScriptedPeer {
    /** First PSN of the queue pair under test. */
    public static final int SEND_PSN = 100;

    /** First PSN of this peer. */
    public static final int RECEIVE_PSN = 500;

    /** Largest payload. */
    public static final int MTU = 256;

    /** Key of the memory at {@link #ADDRESS}, of both sides. */
    public static final int KEY = 0x1234;

    /** Address of the memory. */
    public static final long ADDRESS = 0x10000;

    /** Size of the memory. */
    public static final int MEMORY_BYTES = 4096;

    private static final int NUMBER = 0x222;

    /** UDP port of this peer. */
    static final int PORT = 50_000;

    /** Address of this peer. */
    static final Gid OWN = new Gid(0, 0xffff_0a00_0002L);

    private static final Gid TESTED = new Gid(0, 0xffff_0a00_0001L);

    /** Choices of a test, made before the first call. */
    public static final class Options {
        /** Limits of the queue pair. */
        public Limits limits = Limits.defaults(16);

        /** First PSN of the queue pair. */
        public int sendPsn = SEND_PSN;

        /** First PSN of this peer. */
        public int receivePsn = RECEIVE_PSN;

        /** Answers at a time, of both sides. */
        public int resources = 4;

        /** As of {@link Path}. */
        public int transportRetries = 7;

        /** As of {@link Path}. */
        public int rnrRetries = 7;

        /** What the instance grants. */
        public Permissions grants = TestHost.ALL;

        /** Size of the send queue. */
        public int sendQueueSize = 16;
    }

    private final FakeClock clock = new FakeClock();
    private final List<String> sent = new ArrayList<>();
    private final List<byte[]> sentPackets = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private String endedBy = "";
    private final TestHost host;
    private final QueuePair queuePair;
    private final TestMemory memory = TestMemory.open(KEY, ADDRESS, MEMORY_BYTES);
    private final PacketWriter testedWriter = new PacketWriter(TESTED);
    private final PacketWriter writer = new PacketWriter(OWN);
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[Headers.MAX_PACKET_BYTES]);
    private final OutgoingPacket packet = new OutgoingPacket(1);
    private boolean sinkReady = true;

    /** A peer with the ordinary options. */
    public ScriptedPeer() {
        this(new Options());
    }

    /** A connected peer. */
    public ScriptedPeer(Options options) {
        host =
                new TestHost(
                        TESTED,
                        0x111,
                        16,
                        options.limits,
                        new PacketSink() {
                            @Override
                            public boolean isReady() {
                                return sinkReady;
                            }

                            @Override
                            public void send(OutgoingPacket outgoing) {
                                see(outgoing);
                            }
                        },
                        (from, receive, status) ->
                                events.add(
                                        status == Status.SUCCESS
                                                ? "received "
                                                        + receive.resultOpcode
                                                        + " "
                                                        + receive.resultLengthBytes
                                                : "received " + status),
                        management());
        host.grant(memory);
        queuePair =
                Objects.requireNonNull(
                        host.adapter()
                                .create(
                                        host.attachment(
                                                options.grants,
                                                options.sendQueueSize,
                                                RnrTimer.LONGEST),
                                        null));
        queuePair.connect(
                new Path(
                        OWN,
                        NUMBER,
                        options.sendPsn,
                        options.receivePsn,
                        MTU,
                        Path.ANY_IDENTIFICATION,
                        options.resources,
                        options.resources,
                        options.transportRetries,
                        Path.DEFAULT_TIMEOUT_NANOS,
                        options.rnrRetries),
                clock.nowNanos());
    }

    /** Of the end; empty before. */
    public String reason() {
        return endedBy;
    }

    private Management management() {
        return new Management() {
            @Override
            public void contacted(QueuePair from, long nowNanos) {
                throw new AssertionError("queue pair was connected before: " + from);
            }

            @Override
            public void ended(QueuePair from, Status status, String reason, long nowNanos) {
                events.add("ended " + status);
                endedBy = reason;
            }

            @Override
            public void datagram(Packet datagram, Gid source, long nowNanos) {
                events.add("datagram");
            }

            @Override
            public long nextDeadline() {
                return Adapter.NO_DEADLINE;
            }

            @Override
            public void expire(long nowNanos, int limit) {}
        };
    }

    /** The adapter under test. */
    public Adapter adapter() {
        return host.adapter();
    }

    /** The queue pair under test. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Memory that the queue pair under test grants. */
    public TestMemory memory() {
        return memory;
    }

    /** The time. */
    public FakeClock clock() {
        return clock;
    }

    /** Whether the sink takes packets. */
    public void setSinkReady(boolean ready) {
        sinkReady = ready;
    }

    /** What has happened since the last call. */
    public List<String> events() {
        List<String> seen = List.copyOf(events);
        events.clear();
        return seen;
    }

    // ---- the side under test ----

    /** A request whose local memory has increasing bytes. */
    public WorkRequest request(WorkRequest.Kind kind, int bytes) {
        WorkRequest request = new WorkRequest(kind, status -> events.add(kind + " " + status), 4);
        byte[] local = new byte[Math.max(bytes, 1)];
        for (int i = 0; i < local.length; i++) {
            local[i] = (byte) (i + 1);
        }
        request.local.add(MemorySegment.ofArray(local), 0, bytes);
        request.lengthBytes = bytes;
        request.remote = memory;
        return request;
    }

    /** Submits a request, which is accepted. */
    public WorkRequest submit(WorkRequest.Kind kind, int bytes) {
        return submit(request(kind, bytes));
    }

    /** Submits a request, which is accepted. */
    public WorkRequest submit(WorkRequest request) {
        if (queuePair.submit(request) != null) {
            throw new AssertionError("refused: " + queuePair.submit(request));
        }
        return request;
    }

    /** Posts a receive. */
    public WorkRequest post(int bytes) {
        WorkRequest receive = request(WorkRequest.Kind.RECEIVE, bytes);
        host.receives().add(receive);
        return receive;
    }

    /** Lets the queue pair send all that it can, and returns it as text. */
    public List<String> sent() {
        while (host.adapter().transmit(100, clock.nowNanos()) && sinkReady) {
            if (sent.size() > 100_000) {
                throw new AssertionError("sends without end");
            }
        }
        List<String> seen = List.copyOf(sent);
        sent.clear();
        return seen;
    }

    /** The bytes of a packet that was sent, counted from the last. */
    public byte[] sentBytes(int fromLast) {
        return sentPackets.get(sentPackets.size() - 1 - fromLast);
    }

    private void see(OutgoingPacket outgoing) {
        int bytes = testedWriter.write(outgoing, buffer, buffer.asByteBuffer(), 0);
        byte[] copy = buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        sentPackets.add(copy);
        Packet view = new Packet();
        if (view.wrap(MemorySegment.ofArray(copy), 0, copy.length) != null) {
            throw new AssertionError("malformed packet");
        }
        sent.add(text(view));
    }

    /** A packet as text. */
    static String text(Packet view) {
        Opcode opcode = view.opcode();
        StringBuilder text = new StringBuilder(opcode.toString()).append(' ').append(view.psn());
        if (view.asksAcknowledgement()) {
            text.append('!');
        }
        if (opcode.has(ExtensionHeader.RETH)) {
            text.append(" @")
                    .append(view.address() - ADDRESS)
                    .append('+')
                    .append(view.lengthBytes());
        }
        if (opcode.has(ExtensionHeader.ATOMIC_ETH)) {
            text.append(" @").append(view.address() - ADDRESS);
        }
        if (opcode.has(ExtensionHeader.AETH)) {
            int value = Syndrome.value(view.syndrome());
            text.append(
                            Syndrome.isAcknowledgement(view.syndrome())
                                    ? " ok"
                                    : Syndrome.isNegative(view.syndrome())
                                            ? " nak=" + value
                                            : " rnr=" + value)
                    .append(' ')
                    .append(view.msn());
        }
        if (opcode.has(ExtensionHeader.ATOMIC_ACK_ETH)) {
            text.append(" before=").append(view.valueBefore());
        }
        if (opcode.hasPayload()) {
            text.append(" [").append(view.payloadBytes()).append(']');
        }
        return text.toString();
    }

    /** Lets time pass up to the next deadlines, and expire. */
    public void pass(long nanos) {
        long end = clock.nowNanos() + nanos;
        while (true) {
            long deadline = host.adapter().nextDeadline();
            if (deadline == Adapter.NO_DEADLINE || deadline - end > 0) {
                break;
            }
            clock.advanceNanos(Math.max(0, deadline - clock.nowNanos()));
            host.adapter().expire(clock.nowNanos());
            host.adapter().transmit(1000, clock.nowNanos());
        }
        clock.advanceNanos(end - clock.nowNanos());
    }

    // ---- packets of the peer ----

    /** Begins a packet to the queue pair; {@link #deliver} sends it. */
    public ScriptedPeer packet(Opcode opcode, int psn, boolean acknowledge, byte[] payload) {
        packet.begin(TESTED, PORT, opcode, queuePair.number(), acknowledge, psn, payload.length);
        if (payload.length > 0) {
            packet.add(MemorySegment.ofArray(payload), 0, payload.length);
        }
        return this;
    }

    /** Headers of the packet. */
    public MemorySegment headers() {
        return packet.headers();
    }

    /** Bytes of the packet. */
    byte[] bytes() {
        int bytes = writer.write(packet, buffer, buffer.asByteBuffer(), 0);
        return buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Delivers the packet. */
    public void deliver() {
        deliver(bytes(), OWN, PORT);
    }

    /** Delivers bytes from an address. */
    public void deliver(byte[] bytes, Gid from, int port) {
        host.adapter()
                .receive(
                        MemorySegment.ofArray(bytes),
                        ByteBuffer.wrap(bytes),
                        0,
                        bytes.length,
                        from.high(),
                        from.low(),
                        port,
                        false,
                        clock.nowNanos());
    }

    /** A packet of a send that asks for an acknowledgement. */
    public void send(Opcode opcode, int psn, int bytes) {
        packet(opcode, psn, true, payload(bytes, psn)).deliver();
    }

    /** Bytes that depend on a number. */
    public static byte[] payload(int bytes, int number) {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            payload[i] = (byte) (i * 7 + number);
        }
        return payload;
    }

    /** A packet of a write; only the first has an address. */
    public void write(Opcode opcode, int psn, long at, long length, byte[] payload) {
        packet(opcode, psn, true, payload);
        if (opcode.has(ExtensionHeader.RETH)) {
            Headers.writeReth(
                    headers(), opcode.offset(ExtensionHeader.RETH), ADDRESS + at, KEY, length);
        }
        if (opcode.has(ExtensionHeader.IMMEDIATE)) {
            Headers.writeWord(headers(), opcode.offset(ExtensionHeader.IMMEDIATE), 0x11223344);
        }
        deliver();
    }

    /** A request of a read. */
    public void read(int psn, long at, long length) {
        read(psn, at, length, KEY);
    }

    /** A request of a read with a key. */
    public void read(int psn, long at, long length, int key) {
        packet(Opcode.READ_REQUEST, psn, true, new byte[0]);
        Headers.writeReth(
                headers(),
                Opcode.READ_REQUEST.offset(ExtensionHeader.RETH),
                ADDRESS + at,
                key,
                length);
        deliver();
    }

    /** A request of an atomic operation. */
    public void atomic(Opcode opcode, int psn, long at, long swapOrAdd, long compare) {
        packet(opcode, psn, true, new byte[0]);
        Headers.writeAtomicEth(
                headers(),
                opcode.offset(ExtensionHeader.ATOMIC_ETH),
                ADDRESS + at,
                KEY,
                swapOrAdd,
                compare);
        deliver();
    }

    /** An acknowledgement. */
    public void ack(int psn) {
        syndrome(psn, Syndrome.ACKNOWLEDGED);
    }

    /** A negative acknowledgement. */
    public void nak(int psn, int code) {
        syndrome(psn, Syndrome.negative(code));
    }

    /** An RNR NAK. */
    public void rnr(int psn, int timer) {
        syndrome(psn, Syndrome.receiverNotReady(timer));
    }

    private void syndrome(int psn, int syndrome) {
        packet(Opcode.ACKNOWLEDGE, psn, false, new byte[0]);
        Headers.writeAeth(headers(), Opcode.ACKNOWLEDGE.offset(ExtensionHeader.AETH), syndrome, 0);
        deliver();
    }

    /** Data of a read. */
    public void data(Opcode opcode, int psn, byte[] payload) {
        packet(opcode, psn, false, payload);
        if (opcode.has(ExtensionHeader.AETH)) {
            Headers.writeAeth(
                    headers(), opcode.offset(ExtensionHeader.AETH), Syndrome.ACKNOWLEDGED, 0);
        }
        deliver();
    }

    /** The result of an atomic operation. */
    public void atomicResult(int psn, long before) {
        packet(Opcode.ATOMIC_ACKNOWLEDGE, psn, false, new byte[0]);
        Headers.writeAeth(
                headers(),
                Opcode.ATOMIC_ACKNOWLEDGE.offset(ExtensionHeader.AETH),
                Syndrome.ACKNOWLEDGED,
                0);
        Headers.writeAtomicAckEth(
                headers(),
                Opcode.ATOMIC_ACKNOWLEDGE.offset(ExtensionHeader.ATOMIC_ACK_ETH),
                before);
        deliver();
    }

    /** The bytes that a request has as its local memory. */
    public static byte[] local(WorkRequest request) {
        @Nullable MemorySegment segment = request.local.segment(0);
        return segment.asSlice(0, request.lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }
}
