package io.softdpu.comch.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.wire.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlMessageTest {
    private static final ConsumerAnnouncement ANNOUNCEMENT =
            new ConsumerAnnouncement(256, region(0x10, 66_560), region(0x20, 1 << 20));
    private static final byte[] ANNOUNCEMENT_BYTES =
            HexFormat.of()
                    .parseHex(
                            "0001000000000000"
                                    + "10000000000000001100000000000000"
                                    + "12000000000000001300000000000000"
                                    + "14000000000000001500000000000000"
                                    + "1600000000000000"
                                    + "17000000000000001800000000000000"
                                    + "0004010000000000"
                                    + "20000000000000002100000000000000"
                                    + "22000000000000002300000000000000"
                                    + "24000000000000002500000000000000"
                                    + "2600000000000000"
                                    + "27000000000000002800000000000000"
                                    + "0000100000000000");

    @Test
    void shouldEncodeAnnouncementToGoldenBytes() {
        byte[] target = new byte[ANNOUNCEMENT_BYTES.length + 16];
        Arrays.fill(target, (byte) 0xa5);
        byte[] expected = target.clone();
        System.arraycopy(ANNOUNCEMENT_BYTES, 0, expected, 8, ANNOUNCEMENT_BYTES.length);
        ANNOUNCEMENT.encode(MemorySegment.ofArray(target), 8);
        assertThat(target).isEqualTo(expected);
        assertThat(ANNOUNCEMENT_BYTES).hasSize(ConsumerAnnouncement.WIRE_BYTES);
    }

    @Test
    void shouldDecodeAnnouncementFromGoldenBytes() {
        byte[] source = new byte[ANNOUNCEMENT_BYTES.length + 8];
        System.arraycopy(ANNOUNCEMENT_BYTES, 0, source, 8, ANNOUNCEMENT_BYTES.length);
        assertThat(
                        ConsumerAnnouncement.decode(
                                MemorySegment.ofArray(source), 8, ANNOUNCEMENT_BYTES.length))
                .isEqualTo(ANNOUNCEMENT);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 167, 169})
    void shouldRefuseAnnouncementOfAnotherLength(int length) {
        MemorySegment bytes = MemorySegment.ofArray(Arrays.copyOf(ANNOUNCEMENT_BYTES, 256));
        assertInvalid(bytes, length);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 16_384, -1, Integer.MIN_VALUE})
    void shouldRefuseIllegalSlots(int slots) {
        byte[] bytes = ANNOUNCEMENT_BYTES.clone();
        MemorySegment.ofArray(bytes).set(Preamble.U32, 0, slots);
        assertInvalid(MemorySegment.ofArray(bytes), bytes.length);
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 80, 160})
    void shouldRefuseReservedBytesAndIllegalRegions(int offset) {
        byte[] bytes = ANNOUNCEMENT_BYTES.clone();
        bytes[offset + 3] = (byte) 0x80;
        bytes[offset + 7] = (byte) 0x80;
        assertInvalid(MemorySegment.ofArray(bytes), bytes.length);
    }

    @Test
    void shouldKeepNumbersOfMessageTypes() {
        assertThat(MessageType.values())
                .extracting(MessageType::code)
                .containsExactly(1, 2, 3, 4, 5, 6);
        for (MessageType type : MessageType.values()) {
            assertThat(MessageType.ofCode(type.code())).isEqualTo(type);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void shouldKnowNoOtherMessageType(int code) {
        assertThat(MessageType.ofCode(code)).isNull();
    }

    @Test
    void shouldPackIdAndStatusIntoTheWord() {
        long word = ControlWord.of(0x8000_0001, Status.FULL.code());
        assertThat(word).isEqualTo(0x0000_0018_8000_0001L);
        assertThat(ControlWord.consumerId(word)).isEqualTo(0x8000_0001);
        assertThat(ControlWord.statusCode(word)).isEqualTo(Status.FULL.code());
        assertThat(ControlWord.of(-1)).isEqualTo(0xffff_ffffL);
    }

    private static RegionAddress region(long first, long sizeBytes) {
        return new RegionAddress(
                new RegionAddress.Id(first, first + 1),
                new RegionAddress.Id(first + 2, first + 3),
                new RegionAddress.Id(first + 4, first + 5),
                first + 6,
                new RegionAddress.Id(first + 7, first + 8),
                sizeBytes);
    }

    private static void assertInvalid(MemorySegment bytes, int length) {
        assertThatThrownBy(() -> ConsumerAnnouncement.decode(bytes, 0, length))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, ChannelLimits.MAX_POSTED_BUFFERS})
    void shouldTakeTheLeastAndTheMostSlots(int slots) {
        ConsumerAnnouncement announcement =
                new ConsumerAnnouncement(slots, ANNOUNCEMENT.ring(), ANNOUNCEMENT.memory());
        MemorySegment bytes = MemorySegment.ofArray(new byte[ConsumerAnnouncement.WIRE_BYTES]);
        announcement.encode(bytes, 0);

        assertThat(ConsumerAnnouncement.decode(bytes, 0, ConsumerAnnouncement.WIRE_BYTES))
                .isEqualTo(announcement);
    }

    @Test
    void shouldRefuseAnAnnouncementThatReachesBeyondTheMemory() {
        MemorySegment bytes = MemorySegment.ofArray(Arrays.copyOf(ANNOUNCEMENT_BYTES, 256));

        assertThatThrownBy(() ->
                        ConsumerAnnouncement.decode(
                                bytes, 256 - 167, ConsumerAnnouncement.WIRE_BYTES))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("expected=168");
    }
}
