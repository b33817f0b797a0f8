package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.cm.CmState;
import io.softdpu.rdma.roce.cm.ConnectionListener;
import io.softdpu.rdma.roce.cm.ConnectionManager;
import io.softdpu.rdma.roce.cm.FarEnd;
import io.softdpu.rdma.roce.cm.LocalTerms;
import io.softdpu.rdma.roce.cm.RequestListener;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Peer of a host that violates the protocols as it likes, and sends to the host's other queue pairs
 * too: random bytes, changed packets of others, and well-formed packets and connection messages
 * with any content.
 */
final class Intruder implements RequestListener, ConnectionListener {
    private static final int PORT = 55_555;
    private static final int MTU = 256;
    private static final int KEY = 0x77;
    private static final int MEMORY_BYTES = 1024;
    private static final long ADDRESS = 0x7000;

    private static final int MOST_CONNECTIONS = 12;

    private static final long SECOND = 1_000_000_000;

    /** Packets after which it is quiet: each is answered, and time hardly passes meanwhile. */
    private static final int MOST_PACKETS = 5000;

    private final SeededRandom random;
    private final TestHost host;
    private final VirtualNetwork network;
    private final Gid target;
    private final Gid own;
    private final PacketWriter writer;
    private final OutgoingPacket packet = new OutgoingPacket(1);
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[Headers.MAX_PACKET_BYTES]);
    private final ByteBuffer view = buffer.asByteBuffer();
    private final TestMemory writable;
    private final TestMemory readable;
    private FarEnd far;

    /** Its newest connection, which it attacks. */
    private @Nullable CmConnection connection;

    /** All that its requests were accepted for, until the end of their TIMEWAIT. */
    private final List<CmConnection> accepted = new ArrayList<>();

    private long packets;
    private long ends;

    Intruder(
            SeededRandom random, TestHost host, ConnectionManager manager, VirtualNetwork network) {
        this.random = random;
        this.host = host;
        this.network = network;
        target = host.adapter().gid();
        own = new Gid(target.high(), target.low() + 100);
        far = new FarEnd(own, target, FarEnd.LINUX_GUID, 1, 9);
        writer = new PacketWriter(own);
        writable = host.grant(TestMemory.open(KEY, ADDRESS, MEMORY_BYTES));
        readable =
                host.grant(
                        new TestMemory(
                                KEY + 1,
                                ADDRESS,
                                MEMORY_BYTES,
                                Permissions.of(AccessFlag.RDMA_READ)));
        manager.listen(FarEnd.PORT, this);
    }

    /** Requests a connection, which is accepted at once if there is a place. */
    private void connect(long now) {
        far = far.withId(random.nextInt()).withQueuePair(random.nextInt(2, 1 << 24));
        message(CmCodec.encode(far.req(random.bytes(random.nextInt(57)))), now);
    }

    @Override
    public void requested(CmConnection request) {
        if (accepted.size() == MOST_CONNECTIONS) { // the others need places
            request.refuse("no place: limit=" + MOST_CONNECTIONS, network.nowNanos());
            return;
        }
        try {
            request.accept(new byte[0], terms(), this, network.nowNanos());
        } catch (DpuException e) { // a changed request may state a path MTU beyond the terms
            if (e.status() != Status.NOT_SUPPORTED) {
                throw e;
            }
            return;
        }
        connection = request;
        accepted.add(request);
    }

    private LocalTerms terms() {
        return new LocalTerms(
                host.attachment(TestHost.ALL, 8, RnrTimer.LONGEST),
                1 << 20,
                FarEnd.PATH_MTU_BYTES,
                4,
                4,
                17,
                Path.DEFAULT_TRANSPORT_RETRIES,
                7,
                SECOND);
    }

    /** The host begins to send. */
    @Override
    public void established(CmConnection made) {
        for (WorkRequest.Kind kind : WorkRequest.Kind.values()) {
            if (kind != WorkRequest.Kind.RECEIVE) {
                boolean atomic =
                        kind == WorkRequest.Kind.COMPARE_AND_SWAP
                                || kind == WorkRequest.Kind.FETCH_AND_ADD;
                Operation operation =
                        new Operation(
                                random,
                                kind,
                                writable,
                                0,
                                atomic ? Long.BYTES : 700,
                                (done, status) -> {});
                assertThat(victimOf(made).submit(operation.request)).isNull();
            }
        }
    }

    @Override
    public void rejected(CmConnection made, byte[] privateData) {
        throw new AssertionError("the host requests nothing: " + made);
    }

    @Override
    public void ended(CmConnection made, Status status, String reason) {
        ends++;
    }

    @Override
    public void released(CmConnection made) {
        accepted.remove(made);
    }

    private static QueuePair victimOf(CmConnection made) {
        return Objects.requireNonNull(made.queuePair());
    }

    private int victim() {
        return connection == null ? 2 : victimOf(connection).number();
    }

    long packets() {
        return packets;
    }

    /** How often its connection has ended, but not by its host. */
    long ends() {
        return ends;
    }

    /** Sends a few packets, until there were enough. */
    void attack(long now) {
        for (int i = 1 + random.nextInt(20); i > 0 && packets < MOST_PACKETS; i--) {
            packets++;
            switch (random.nextInt(10)) {
                case 0 -> receive(random.bytes(random.nextInt(300)), now);
                case 1, 2 -> changed(now);
                case 3 -> manage(now);
                default -> wellFormed(now);
            }
        }
        boolean ended =
                connection == null
                        || (connection.state() != CmState.REP_SENT
                                && connection.state() != CmState.ESTABLISHED);
        // Not at once: late packets meet its TIMEWAIT.
        if (ended && packets < MOST_PACKETS && random.chance(0.3)) {
            connect(now);
        }
    }

    /** A packet of others, changed, and from here. */
    private void changed(long now) {
        byte @Nullable [] last = network.log().last();
        if (last != null) {
            receive(random.damaged(last), now);
        }
    }

    /** A message of connection management. */
    private void manage(long now) {
        int id = connection == null || random.chance(0.2) ? random.nextInt() : connection.localId();
        FarEnd from =
                random.chance(0.7) ? far : far.withId(random.nextInt(4)).withQueuePair(victim());
        byte[] bytes = CmCodec.encode(from.any(random, id, random.oneOf(victim(), 2)));
        if (random.chance(0.1)) {
            message(random.damaged(bytes), now);
        } else if (random.chance(0.2)) { // a DREQ would end each connection early
            message(bytes, now);
        }
    }

    private void message(byte[] payload, long now) {
        packet.begin(target, PORT, Opcode.DATAGRAM, 1, false, random.nextInt(), payload.length);
        packet.add(MemorySegment.ofArray(payload), 0, payload.length);
        Headers.writeDeth(
                packet.headers(),
                Opcode.DATAGRAM.offset(ExtensionHeader.DETH),
                random.chance(0.1) ? random.nextInt() : CmCodec.QUEUE_KEY,
                CmCodec.QUEUE_PAIR);
        int size = writer.write(packet, buffer, view, 0);
        receive(buffer.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE), now);
    }

    private void receive(byte[] bytes, long now) {
        host.adapter()
                .receive(
                        MemorySegment.ofArray(bytes),
                        ByteBuffer.wrap(bytes),
                        0,
                        bytes.length,
                        own.high(),
                        own.low(),
                        PORT,
                        random.nextBoolean(),
                        now);
    }

    private void wellFormed(long now) {
        Opcode opcode = random.oneOf(Opcode.values());
        int bytes =
                opcode.hasPayload()
                        ? random.oneOf(0, 1, 8, MTU - 1, MTU, MTU, MTU, MTU + 1, 700)
                        : 0;
        byte[] payload = random.bytes(bytes);
        packet.begin(target, PORT, opcode, queuePair(opcode), random.nextBoolean(), psn(), bytes);
        if (bytes > 0) {
            packet.add(MemorySegment.ofArray(payload), 0, bytes);
        }
        MemorySegment headers = packet.headers();
        for (int at = Headers.BTH_BYTES; at < opcode.headerBytes(); at++) {
            headers.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
        }
        if (opcode.has(ExtensionHeader.RETH)) {
            Headers.writeReth(
                    headers, opcode.offset(ExtensionHeader.RETH), address(), key(), length(bytes));
        }
        if (opcode.has(ExtensionHeader.ATOMIC_ETH)) {
            Headers.writeAtomicEth(
                    headers,
                    opcode.offset(ExtensionHeader.ATOMIC_ETH),
                    address(),
                    key(),
                    random.nextLong(),
                    0);
        }
        if (opcode.has(ExtensionHeader.AETH)) {
            Headers.writeAeth(
                    headers,
                    opcode.offset(ExtensionHeader.AETH),
                    random.oneOf(31, 31, 0x2e, 0x60, random.nextInt(256)),
                    random.nextInt());
        }
        int size = writer.write(packet, buffer, view, 0);
        receive(buffer.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE), now);
    }

    private int queuePair(Opcode opcode) {
        if (opcode.role() == Opcode.Role.DATAGRAM) {
            return random.oneOf(0, 1, victim());
        }
        return random.chance(0.9) ? victim() : random.oneOf(0, 1, victim() + 1, random.nextInt());
    }

    private int psn() {
        Path path = connection == null ? null : victimOf(connection).path();
        int first = path == null ? 0 : random.oneOf(path.receivePsn(), path.sendPsn());
        return SequenceNumber.add(
                first,
                random.oneOf(
                        0,
                        0,
                        random.nextInt(30),
                        -random.nextInt(30),
                        SequenceNumber.MAX_WINDOW - 1 + random.nextInt(3),
                        random.nextInt()));
    }

    private int key() {
        return random.oneOf(KEY, KEY, KEY + 1, random.nextInt());
    }

    private long address() {
        return ADDRESS
                + random.oneOf(
                        0L,
                        8L * random.nextInt(100),
                        (long) random.nextInt(1200),
                        -1L,
                        random.nextLong(),
                        Long.MIN_VALUE,
                        -ADDRESS - 1);
    }

    private long length(int payloadBytes) {
        return random.oneOf(
                (long) payloadBytes,
                payloadBytes + 256L,
                (long) random.nextInt(1200),
                0L,
                1L << 31,
                0xffff_ffffL);
    }

    /** Nothing but what was granted has changed; nothing has grown. */
    void leave() {
        assertThat(writable.guardsAreWhole()).isTrue();
        assertThat(readable.guardsAreWhole()).isTrue();
        assertThat(readable.content()).as("memory for reading").containsOnly(0);
        accepted.forEach(made -> made.disconnect(network.nowNanos()));
    }
}
