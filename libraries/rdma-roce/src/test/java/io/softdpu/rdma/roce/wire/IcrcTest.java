package io.softdpu.rdma.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IcrcTest {
    private final byte[] bytes = new byte[Headers.MAX_PACKET_BYTES];
    private final MemorySegment memory = MemorySegment.ofArray(bytes);
    private final ByteBuffer view = ByteBuffer.wrap(bytes);
    private final Packet packet = new Packet();

    private int randomPacket(SeededRandom random, int payloadBytes) {
        random.nextBytes(bytes);
        int padding = Headers.paddingBytes(payloadBytes);
        Headers.writeBth(
                memory, 0, Opcode.SEND_ONLY, 0, padding, random.nextInt(), true, random.nextInt());
        int size = Headers.BTH_BYTES + payloadBytes + padding + Headers.ICRC_BYTES;
        assertThat(packet.wrap(memory, 0, size)).isNull();
        return size;
    }

    private static Icrc icrc(boolean ipv4, byte[] source, byte[] destination, int port) {
        Icrc icrc = ipv4 ? Icrc.ipv4() : Icrc.ipv6();
        icrc.setAddresses(source, destination);
        icrc.setSourcePort(port);
        return icrc;
    }

    /** The annex, byte for byte. */
    private int expected(
            boolean ipv4, byte[] source, byte[] destination, int port, int word, int size) {
        ByteBuffer covered = ByteBuffer.allocate(8 + 40 + 8 + size);
        covered.putLong(-1L);
        if (ipv4) {
            covered.putShort((short) 0x45ff).putShort((short) (28 + size)).putInt(word);
            covered.putShort((short) 0xff11).putShort((short) -1);
        } else {
            covered.putInt(0x6fff_ffff).putShort((short) (8 + size)).putShort((short) 0x11ff);
        }
        covered.put(source).put(destination);
        covered.putShort((short) port).putShort((short) 4791).putShort((short) (8 + size));
        covered.putShort((short) -1);
        int bth = covered.position();
        covered.put(bytes, 0, size - 4).put(bth + 4, (byte) -1);
        CRC32 crc = new CRC32();
        crc.update(covered.flip());
        return (int) crc.getValue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCoverTheHeadersAsTheAnnexSays(boolean ipv4, SeededRandom random) {
        for (int payload : new int[] {0, 1, 2, 3, 4, 61, 64, 240, 244, 248, 1024, 4095, 4096}) {
            byte[] source = random.bytes(ipv4 ? 4 : 16);
            byte[] destination = random.bytes(ipv4 ? 4 : 16);
            int port = random.nextInt(65536);
            int size = randomPacket(random, payload);
            Icrc icrc = icrc(ipv4, source, destination, port);
            assertThat(icrc.of(packet, view))
                    .isEqualTo(expected(ipv4, source, destination, port, 0x4000, size));
            icrc.setIdentification(0xfedc, false);
            assertThat(icrc.of(packet, view))
                    .isEqualTo(expected(ipv4, source, destination, port, 0xfedc_0000, size));
        }
    }

    @Test
    void shouldNotCoverCongestionBitsAndWhatSharesTheirByte(SeededRandom random) {
        randomPacket(random, 64);
        Icrc icrc = icrc(false, random.bytes(16), random.bytes(16), 50_000);
        int clear = icrc.of(packet, view);
        bytes[4] = (byte) 0xc5;
        assertThat(icrc.of(packet, view)).isEqualTo(clear);
        bytes[5] ^= 1;
        assertThat(icrc.of(packet, view)).isNotEqualTo(clear);
    }

    @Test
    void shouldSolveForEachIdentification(SeededRandom random) {
        int size = randomPacket(random, 64);
        byte[] source = random.bytes(4);
        byte[] destination = random.bytes(4);
        Icrc icrc = icrc(true, source, destination, 50_000);
        icrc.of(packet, view);
        for (int identification = 0; identification < 65536; identification += 13) {
            int sent =
                    expected(
                            true, source, destination, 50_000, identification << 16 | 0x4000, size);
            assertThat(icrc.identification(sent)).isEqualTo(identification);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 1024, 4096})
    void shouldSolveInPacketsOfEachSize(int payload, SeededRandom random) {
        for (int round = 0; round < 50; round++) {
            int identification = random.nextInt(65536);
            randomPacket(random, payload);
            Icrc icrc = icrc(true, random.bytes(4), random.bytes(4), random.nextInt(65536));
            icrc.setIdentification(identification, true);
            int sent = icrc.of(packet, view);
            icrc.setIdentification(random.nextInt(65536), true);
            icrc.of(packet, view);
            assertThat(icrc.identification(sent)).isEqualTo(identification);
        }
    }

    /** Of the largest packet, which has more headers than a send. */
    @Test
    void shouldSolveInTheLargestPacket(SeededRandom random) {
        random.nextBytes(bytes);
        Icrc icrc = icrc(true, random.bytes(4), random.bytes(4), 1);
        icrc.setIdentification(0x1234, true);
        int sent = icrc.of(memory, view, 0, Headers.MAX_PACKET_BYTES);
        icrc.setIdentification(0, true);
        icrc.of(memory, view, 0, Headers.MAX_PACKET_BYTES);
        assertThat(icrc.identification(sent)).isEqualTo(0x1234);
    }

    /** One of 65,536 is expected to be accepted: six on average, and 30 with a chance of 1e-11. */
    @Test
    void shouldFindNoIdentificationForMostChangedPackets(SeededRandom random) {
        randomPacket(random, 64);
        Icrc icrc = icrc(true, random.bytes(4), random.bytes(4), 50_000);
        icrc.of(packet, view);
        int accepted = 0;
        for (int i = 0; i < 6 << 16; i++) {
            accepted += icrc.identification(random.nextInt()) >= 0 ? 1 : 0;
        }
        assertThat(accepted).isLessThan(30);
    }

    @Test
    void shouldSolveForNothingOverIpv6(SeededRandom random) {
        randomPacket(random, 64);
        Icrc icrc = icrc(false, random.bytes(16), random.bytes(16), 50_000);
        int right = icrc.of(packet, view);
        assertThat(icrc.identification(right)).isZero();
        int accepted = 0;
        for (int i = 0; i < 6 << 16; i++) {
            accepted += icrc.identification(right ^ (1 | random.nextInt())) >= 0 ? 1 : 0;
        }
        assertThat(accepted).isZero();
    }

    @Test
    void shouldRefuseAddressesOfTheOtherVersion() {
        assertThatThrownBy(() -> Icrc.ipv4().setAddresses(new byte[16], new byte[16]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "addresses of another IP version: sourceBytes=16, destinationBytes=16,"
                                + " expected=4");
        assertThatThrownBy(() -> Icrc.ipv6().setAddresses(new byte[16], new byte[4]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected=16");
    }

    @Test
    void shouldAllocateNothingPerPacket(SeededRandom random) {
        randomPacket(random, 64);
        Icrc icrc = icrc(true, random.bytes(4), random.bytes(4), 50_000);
        AllocationMeter.assertNone(
                20_000,
                () -> {
                    int value = icrc.of(packet, view);
                    if (icrc.identification(value) != 0) {
                        throw new AssertionError("another identification");
                    }
                    icrc.identification(value + 1);
                });
    }
}
