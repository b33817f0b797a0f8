package io.softdpu.rdma.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PacketTest {
    private final byte[] bytes = new byte[Headers.MAX_PACKET_BYTES + 64];
    private final MemorySegment memory = MemorySegment.ofArray(bytes);
    private final Packet packet = new Packet();

    private void writeBth(Opcode opcode, int padding) {
        Headers.writeBth(memory, 0, opcode, 0, padding, 1, false, 2);
    }

    private static int smallest(Opcode opcode) {
        return opcode.headerBytes() + Headers.ICRC_BYTES;
    }

    @Test
    void shouldReadTheFieldsOfTheBaseTransportHeader() {
        Headers.writeBth(
                memory,
                8,
                Opcode.SEND_ONLY,
                Headers.SOLICITED | Headers.MIGRATED,
                3,
                0xab_cdef,
                true,
                0xfe_dcba);
        assertThat(packet.wrap(memory, 8, smallest(Opcode.SEND_ONLY) + 4)).isNull();

        assertThat(packet.opcode()).isEqualTo(Opcode.SEND_ONLY);
        assertThat(packet.flags()).isEqualTo(Headers.SOLICITED | Headers.MIGRATED);
        assertThat(packet.queuePair()).isEqualTo(0xab_cdef);
        assertThat(packet.asksAcknowledgement()).isTrue();
        assertThat(packet.psn()).isEqualTo(0xfe_dcba);
        assertThat(packet.paddingBytes()).isEqualTo(3);
        assertThat(packet.payloadBytes()).isEqualTo(1);
        assertThat(packet.payloadAt()).isEqualTo(20);
        assertThat(packet.congestion()).isZero();
        assertThat(Arrays.copyOfRange(bytes, 8, 20))
                .containsExactly(4, 0xf0, 0xff, 0xff, 0, 0xab, 0xcd, 0xef, 0x80, 0xfe, 0xdc, 0xba);
    }

    @Test
    void shouldWriteNothingBesideAField() {
        Headers.writeBth(memory, 0, Opcode.SEND_ONLY, -1, -1, -1, false, -1);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.SEND_ONLY) + 4)).isNull();
        assertThat(packet.asksAcknowledgement()).isFalse();
        assertThat(bytes[1]).isEqualTo((byte) 0xf0);
        assertThat(bytes[4]).isZero();
        assertThat(bytes[8]).isZero();
    }

    @Test
    void shouldIgnoreReservedBitsAndReadTheCongestionBits() {
        writeBth(Opcode.SEND_ONLY, 0);
        bytes[4] = 0x7f;
        bytes[8] = 0x7f;
        assertThat(packet.wrap(memory, 0, smallest(Opcode.SEND_ONLY))).isNull();
        assertThat(packet.congestion()).isEqualTo(Headers.BECN);
        assertThat(packet.asksAcknowledgement()).isFalse();
        assertThat(packet.queuePair()).isEqualTo(1);
        assertThat(packet.psn()).isEqualTo(2);
        bytes[4] = (byte) 0x80;
        assertThat(packet.congestion()).isEqualTo(Headers.FECN);
    }

    @Test
    void shouldReadTheOperandsOfACompareAndSwapInTheirOrder() {
        writeBth(Opcode.COMPARE_SWAP, 0);
        Headers.writeAtomicEth(memory, 12, 0x0102_0304_0506_0708L, 0x1112_1314, 0x21, 0x31);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.COMPARE_SWAP))).isNull();
        assertThat(packet.address()).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(packet.key()).isEqualTo(0x1112_1314);
        assertThat(packet.swapOrAdd()).isEqualTo(0x21);
        assertThat(packet.compare()).isEqualTo(0x31);
        assertThat(bytes[12]).isEqualTo((byte) 1);
        assertThat(bytes[12 + 19]).as("last byte of the swapped value").isEqualTo((byte) 0x21);
        assertThat(bytes[12 + 27]).as("last byte of the compared value").isEqualTo((byte) 0x31);
    }

    @Test
    void shouldReadAnImmediateWithItsHighByteFirst() {
        writeBth(Opcode.WRITE_ONLY_IMMEDIATE, 0);
        Headers.writeReth(memory, 12, -1, 0x8000_0001, 0xffff_fffeL);
        Headers.writeWord(memory, 28, 0x0102_0384);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.WRITE_ONLY_IMMEDIATE))).isNull();
        assertThat(packet.immediate()).isEqualTo(0x0102_0384);
        assertThat(bytes[28]).isEqualTo((byte) 1);
        assertThat(packet.address()).isEqualTo(-1);
        assertThat(packet.key()).isEqualTo(0x8000_0001);
        assertThat(packet.lengthBytes()).isEqualTo(0xffff_fffeL);
    }

    @Test
    void shouldReadAcknowledgementsAndDatagrams() {
        writeBth(Opcode.ATOMIC_ACKNOWLEDGE, 0);
        Headers.writeAeth(memory, 12, 0xff, 0xff_fffe);
        Headers.writeAtomicAckEth(memory, 16, Long.MIN_VALUE + 7);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.ATOMIC_ACKNOWLEDGE))).isNull();
        assertThat(packet.syndrome()).isEqualTo(0xff);
        assertThat(packet.msn()).isEqualTo(0xff_fffe);
        assertThat(packet.valueBefore()).isEqualTo(Long.MIN_VALUE + 7);

        writeBth(Opcode.DATAGRAM_IMMEDIATE, 0);
        Headers.writeDeth(memory, 12, CmCodec.QUEUE_KEY, -2);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.DATAGRAM_IMMEDIATE))).isNull();
        assertThat(packet.queueKey()).isEqualTo(0x8001_0000);
        assertThat(packet.sourceQueuePair()).isEqualTo(0xff_fffe);
        assertThat(bytes[16]).as("reserved").isZero();

        writeBth(Opcode.SEND_ONLY_INVALIDATE, 0);
        Headers.writeWord(memory, 12, 77);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.SEND_ONLY_INVALIDATE))).isNull();
        assertThat(packet.invalidatedKey()).isEqualTo(77);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void shouldTakeEachOpcodeFromItsSmallestToItsLargestSize(Opcode opcode) {
        writeBth(opcode, 0);
        int smallest = smallest(opcode);
        assertThat(Opcode.of(opcode.code())).isEqualTo(opcode);
        assertThat(packet.wrap(memory, 0, smallest)).isNull();
        assertThat(packet.payloadBytes()).isZero();
        assertThat(packet.wrap(memory, 0, smallest - 4)).isEqualTo(PacketFault.SHORT);
        assertThat(packet.wrap(memory, 0, smallest + 2)).isEqualTo(PacketFault.UNALIGNED);
        if (opcode.hasPayload()) {
            int largest = smallest + Headers.MAX_PAYLOAD_BYTES;
            assertThat(packet.wrap(memory, 0, largest)).isNull();
            assertThat(packet.payloadBytes()).isEqualTo(4096);
            assertThat(packet.wrap(memory, 0, largest + 4)).isEqualTo(PacketFault.LONG);
        } else {
            assertThat(packet.wrap(memory, 0, smallest + 4)).isEqualTo(PacketFault.PAYLOAD);
        }
        writeBth(opcode, 1);
        assertThat(packet.wrap(memory, 0, smallest)).isEqualTo(PacketFault.PAYLOAD);
        assertThat(opcode.headerBytes()).isLessThanOrEqualTo(Headers.MAX_HEADER_BYTES);
    }

    @Test
    void shouldRefuseOtherVersionsKeysAndOpcodes() {
        int size = smallest(Opcode.SEND_ONLY);
        for (int version = 1; version < 16; version++) {
            writeBth(Opcode.SEND_ONLY, 0);
            bytes[1] |= (byte) version;
            assertThat(packet.wrap(memory, 0, size)).isEqualTo(PacketFault.VERSION);
        }
        writeBth(Opcode.SEND_ONLY, 0);
        bytes[2] = 0x7f;
        assertThat(packet.wrap(memory, 0, size)).isEqualTo(PacketFault.PARTITION_KEY);
        writeBth(Opcode.SEND_ONLY, 0);
        bytes[0] = 0x15;
        assertThat(packet.wrap(memory, 0, size)).isEqualTo(PacketFault.OPCODE);
        assertThat(packet.wrap(memory, 0, 12)).isEqualTo(PacketFault.SHORT);
        assertThat(packet.wrap(memory, 0, 0)).isEqualTo(PacketFault.SHORT);
        assertThat(packet.wrap(memory, 0, Headers.MAX_PACKET_BYTES + 4))
                .isEqualTo(PacketFault.LONG);
    }

    @Test
    void shouldKeepTheViewOfThePacketBeforeAFault() {
        writeBth(Opcode.SEND_ONLY, 0);
        assertThat(packet.wrap(memory, 0, 20)).isNull();
        assertThat(packet.wrap(memory, 4, 15)).isNotNull();
        assertThat(packet.at()).isZero();
        assertThat(packet.bytes()).isEqualTo(20);
        assertThat(packet.payloadBytes()).isEqualTo(4);
    }

    @Test
    void shouldThrowForAHeaderThatThePacketDoesNotHave() {
        writeBth(Opcode.SEND_ONLY, 0);
        assertThat(packet.wrap(memory, 0, smallest(Opcode.SEND_ONLY))).isNull();
        assertThatThrownBy(packet::address).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(packet::syndrome).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(packet::immediate).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(Opcode.SEND_ONLY.has(ExtensionHeader.RETH)).isFalse();
    }

    /** The memory ends with the packet, so a read behind it throws. */
    @Test
    @Tag(Soak.TAG)
    void shouldReadAnyBytesWithinTheirLength(SeededRandom random) {
        int rounds = Soak.count(20_000, 200_000, 5_000_000);
        Set<PacketFault> faults = EnumSet.noneOf(PacketFault.class);
        long begin = System.nanoTime();
        int taken = 0;
        for (int round = 0; round < rounds; round++) {
            byte[] any = random.bytes(random.nextInt(random.chance(0.01) ? 5000 : 80));
            if (any.length >= 4 && random.chance(0.9)) {
                Opcode opcode = random.oneOf(Opcode.values());
                any[0] = (byte) opcode.code();
                any[1] &= (byte) (random.chance(0.9) ? 0xf0 : 0xff);
                any[2] = (byte) (random.chance(0.95) ? 0xff : 0x7f);
                any[3] = (byte) 0xff;
            }
            PacketFault fault = packet.wrap(MemorySegment.ofArray(any), 0, any.length);
            if (fault == null) {
                taken++;
                readAll(any.length);
            } else {
                faults.add(fault);
            }
        }
        assertThat(taken).isPositive();
        assertThat(faults).containsExactlyInAnyOrder(PacketFault.values());
        Soak.report(
                "roce-packet-view",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "packets=" + rounds + ", taken=" + taken);
    }

    private void readAll(int length) {
        assertThat(packet.psn() | packet.queuePair() | packet.flags() | packet.congestion())
                .isNotNegative();
        assertThat(packet.payloadBytes()).isBetween(0, Headers.MAX_PAYLOAD_BYTES);
        assertThat(packet.payloadAt() + packet.payloadBytes() + packet.paddingBytes() + 4)
                .isEqualTo(length);
        packet.icrc();
        for (ExtensionHeader header : ExtensionHeader.values()) {
            if (packet.opcode().has(header)) {
                switch (header) {
                    case DETH -> assertThat(packet.sourceQueuePair()).isNotNegative();
                    case RETH -> assertThat(packet.lengthBytes()).isNotNegative();
                    case ATOMIC_ETH -> packet.compare();
                    case AETH -> assertThat(packet.msn()).isNotNegative();
                    case ATOMIC_ACK_ETH -> packet.valueBefore();
                    case IMMEDIATE -> packet.immediate();
                    case INVALIDATE -> packet.invalidatedKey();
                }
            }
        }
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        AllocationMeter.assertNone(
                20_000,
                () -> {
                    Headers.writeBth(memory, 0, Opcode.WRITE_ONLY, 0, 0, 1, true, 2);
                    Headers.writeReth(memory, 12, 3, 4, 5);
                    if (packet.wrap(memory, 0, 1024) != null || packet.lengthBytes() != 5) {
                        throw new AssertionError("not the packet that was written");
                    }
                });
    }

    @Test
    void shouldKeepKindAndValueOfASyndromeApart() {
        for (int value = 0; value < 32; value++) {
            assertThat(Syndrome.value(Syndrome.negative(value))).isEqualTo(value);
            assertThat(Syndrome.value(Syndrome.receiverNotReady(value))).isEqualTo(value);
            assertThat(Syndrome.isNegative(Syndrome.negative(value))).isTrue();
            assertThat(Syndrome.isReceiverNotReady(Syndrome.receiverNotReady(value))).isTrue();
            assertThat(Syndrome.isAcknowledgement(value)).isTrue();
            assertThat(Syndrome.isAcknowledgement(value | 0x80)).as("reserved bit").isTrue();
            assertThat(Syndrome.isAcknowledgement(value | 0x40)).as("reserved kind").isFalse();
            assertThat(Syndrome.isNegative(value | 0x40)).isFalse();
            assertThat(Syndrome.isReceiverNotReady(value | 0x40)).isFalse();
        }
        assertThat(Syndrome.isAcknowledgement(Syndrome.negative(0))).isFalse();
        assertThat(Syndrome.isNegative(Syndrome.receiverNotReady(31))).isFalse();
    }
}
