package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
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
import org.jspecify.annotations.Nullable;

/**
 * Peer of one queue pair of a host, that violates the protocol as it likes, and sends to the host's
 * other queue pairs too: random bytes, changed packets of others, and well-formed packets with any
 * content.
 */
final class Intruder {
    private static final int PORT = 55_555;
    private static final int MTU = 256;
    private static final int KEY = 0x77;
    private static final int MEMORY_BYTES = 1024;
    private static final long ADDRESS = 0x7000;

    /** Packets after which it is quiet: each is answered, and time hardly passes meanwhile. */
    private static final int MOST_PACKETS = 5000;

    private final SeededRandom random;
    private final TestHost host;
    private final Gid target;
    private final Gid own;
    private final PacketWriter writer;
    private final OutgoingPacket packet = new OutgoingPacket(1);
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[Headers.MAX_PACKET_BYTES]);
    private final ByteBuffer view = buffer.asByteBuffer();
    private final TestMemory writable;
    private final TestMemory readable;
    private QueuePair victim;
    private int firstPsn;
    private boolean ended;
    private long packets;
    private long ends;

    Intruder(SeededRandom random, TestHost host, Gid target) {
        this.random = random;
        this.host = host;
        this.target = target;
        own = new Gid(target.high(), target.low() + 100);
        writer = new PacketWriter(own);
        writable = host.grant(TestMemory.open(KEY, ADDRESS, MEMORY_BYTES));
        readable =
                host.grant(
                        new TestMemory(
                                KEY + 1,
                                ADDRESS,
                                MEMORY_BYTES,
                                Permissions.of(AccessFlag.RDMA_READ)));
        victim = connect(0);
    }

    private QueuePair connect(long now) {
        firstPsn = random.nextInt(SequenceNumber.MAX + 1);
        QueuePair created =
                host.adapter().create(host.attachment(TestHost.ALL, 8, RnrTimer.LONGEST), this);
        if (created == null) {
            throw new AssertionError("no place for a queue pair");
        }
        created.connect(
                new Path(
                        own,
                        9,
                        firstPsn,
                        firstPsn,
                        MTU,
                        Path.ANY_IDENTIFICATION,
                        4,
                        4,
                        7,
                        Path.DEFAULT_TIMEOUT_NANOS,
                        7),
                now);
        for (WorkRequest.Kind kind : WorkRequest.Kind.values()) {
            if (kind != WorkRequest.Kind.RECEIVE) {
                boolean atomic =
                        kind == WorkRequest.Kind.COMPARE_AND_SWAP
                                || kind == WorkRequest.Kind.FETCH_AND_ADD;
                Operation operation =
                        new Operation(random, kind, writable, 0, atomic ? Long.BYTES : 700);
                assertThat(created.submit(operation.request)).isNull();
            }
        }
        return created;
    }

    void ended() {
        ended = true;
        ends++;
    }

    long packets() {
        return packets;
    }

    /** How often its queue pair has ended. */
    long ends() {
        return ends;
    }

    /** Sends a few packets, until there were enough. */
    void attack(VirtualNetwork network, long now) {
        for (int i = 1 + random.nextInt(20); i > 0 && packets < MOST_PACKETS; i--) {
            packets++;
            switch (random.nextInt(8)) {
                case 0 -> receive(random.bytes(random.nextInt(300)), now);
                case 1, 2 -> changed(network, now);
                default -> wellFormed(now);
            }
        }
        if (ended) {
            ended = false;
            host.adapter().destroy(victim);
            victim = connect(now);
        }
    }

    /** A packet of others, changed, and from here. */
    private void changed(VirtualNetwork network, long now) {
        byte @Nullable [] last = network.log().last();
        if (last != null) {
            receive(random.damaged(last), now);
        }
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
            return random.oneOf(0, 1, victim.number());
        }
        return random.chance(0.9)
                ? victim.number()
                : random.oneOf(0, 1, victim.number() + 1, random.nextInt());
    }

    private int psn() {
        return SequenceNumber.add(
                firstPsn,
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
        host.adapter().destroy(victim);
    }
}
