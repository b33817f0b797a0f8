package io.softdpu.rdma.roce.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packets in one piece, and the check of their ICRC. */
@Tag(Soak.TAG)
class IcrcCheckTest {
    private static final int PORT = 50_001;
    private static final int ANY = 1 << 16;
    private static final Gid IPV4 = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid IPV4_PEER = new Gid(0, 0xffff_0a00_0002L);
    private static final Gid IPV6 = new Gid(0xfd00_0000_0000_0000L, 1);
    private static final Gid IPV6_PEER = new Gid(0xfd00_0000_0000_0000L, 2);

    /** A packet from one address to another. */
    private static byte[] packet(Gid from, Gid to, byte[] payload) {
        OutgoingPacket packet = new OutgoingPacket(2);
        packet.begin(to, PORT, Opcode.WRITE_ONLY, 0x123, true, 0x456, payload.length);
        Headers.writeReth(
                packet.headers(), Opcode.WRITE_ONLY.offset(ExtensionHeader.RETH), 1, 2, 3);
        MemorySegment memory = MemorySegment.ofArray(payload);
        packet.add(memory, 0, payload.length / 2);
        packet.add(memory, payload.length / 2, payload.length - payload.length / 2);
        byte[] bytes = new byte[packet.bytes()];
        assertThat(
                        new PacketWriter(from)
                                .write(
                                        packet,
                                        MemorySegment.ofArray(bytes),
                                        ByteBuffer.wrap(bytes),
                                        0))
                .isEqualTo(bytes.length);
        return bytes;
    }

    private static boolean isIntact(
            IcrcCheck check, byte[] bytes, Gid from, int port, int identifications) {
        Packet packet = new Packet();
        return packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length) == null
                && check.isIntact(
                        packet,
                        ByteBuffer.wrap(bytes),
                        from.high(),
                        from.low(),
                        port,
                        identifications);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 61, 4096})
    void shouldTakeAPacketInOnePiece(int payloadBytes) {
        byte[] payload = new byte[payloadBytes];
        Arrays.fill(payload, (byte) 7);
        byte[] ipv4 = packet(IPV4, IPV4_PEER, payload);
        IcrcCheck check = new IcrcCheck(IPV4_PEER);
        assertThat(isIntact(check, ipv4, IPV4, PORT, 1)).isTrue();
        assertThat(isIntact(check, ipv4, IPV4, PORT + 1, ANY)).as("port").isFalse();
        assertThat(isIntact(check, ipv4, IPV4_PEER, PORT, ANY)).as("sender").isFalse();
        assertThat(isIntact(check, ipv4, IPV4, PORT, 1)).as("the same again").isTrue();
        assertThat(isIntact(new IcrcCheck(IPV4), ipv4, IPV4, PORT, ANY)).as("receiver").isFalse();
        assertThat(isIntact(check, ipv4, IPV6, PORT, ANY)).as("IP version").isFalse();
        byte[] ipv6 = packet(IPV6, IPV6_PEER, payload);
        IcrcCheck six = new IcrcCheck(IPV6_PEER);
        assertThat(isIntact(six, ipv6, IPV6, PORT, 1)).isTrue();
        assertThat(isIntact(six, ipv6, IPV6_PEER, PORT, 1)).isFalse();
    }

    @Test
    void shouldWriteAndTakePacketsOfSeveralPeersByTurns() {
        Gid[][] networks = {
            {IPV4, IPV4_PEER, new Gid(0, 0xffff_0a00_0003L)},
            {IPV6, IPV6_PEER, new Gid(0xfd01_0000_0000_0000L, 2)}
        };
        for (Gid[] hosts : networks) {
            PacketWriter writer = new PacketWriter(hosts[0]);
            IcrcCheck check = new IcrcCheck(hosts[0]);
            for (int i : new int[] {1, 2, 2, 1, 0, 1}) {
                byte[] bytes = new byte[20];
                OutgoingPacket packet = new OutgoingPacket(1);
                packet.begin(hosts[i], PORT, Opcode.SEND_ONLY, 1, true, 2, 1);
                packet.add(MemorySegment.ofArray(new byte[1]), 0, 1);
                writer.write(packet, MemorySegment.ofArray(bytes), ByteBuffer.wrap(bytes), 0);
                assertThat(isIntact(new IcrcCheck(hosts[i]), bytes, hosts[0], PORT, 1)).isTrue();
                byte[] answer = packet(hosts[i], hosts[0], new byte[1]);
                assertThat(isIntact(check, answer, hosts[i], PORT, 1)).isTrue();
                assertThat(isIntact(check, answer, hosts[3 - Math.max(i, 1)], PORT, ANY)).isFalse();
            }
        }
    }

    @Test
    void shouldTakeNoChangedPacketButOneOf65536WithoutAnExpectedIdentification(
            SeededRandom random) {
        int count = Soak.count(10_000, 100_000, 1_000_000);
        byte[] ipv4 = packet(IPV4, IPV4_PEER, random.bytes(64));
        byte[] ipv6 = packet(IPV6, IPV6_PEER, random.bytes(64));
        IcrcCheck check = new IcrcCheck(IPV4_PEER);
        IcrcCheck six = new IcrcCheck(IPV6_PEER);
        int taken = 0;
        for (int i = 0; i < count; i++) {
            byte[] changed = changed(random, ipv4);
            assertThat(isIntact(check, changed, IPV4, PORT, 1)).isFalse();
            taken += isIntact(check, changed, IPV4, PORT, ANY) ? 1 : 0;
            assertThat(isIntact(six, changed(random, ipv6), IPV6, PORT, ANY)).isFalse();
        }
        assertThat(taken).isLessThan(6 + count / 30_000);
    }

    /** Changes what the ICRC covers: neither byte 4 nor the ICRC. */
    private static byte[] changed(SeededRandom random, byte[] packet) {
        byte[] body = Arrays.copyOf(packet, packet.length - Headers.ICRC_BYTES);
        byte[] changed = packet.clone();
        do {
            byte[] damaged = random.damaged(body);
            damaged[4] = packet[4];
            System.arraycopy(damaged, 0, changed, 0, damaged.length);
        } while (Arrays.equals(changed, packet));
        return changed;
    }
}
