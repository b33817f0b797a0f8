package io.softdpu.storage.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class IoMessageViewTest {
    private static final String GOLDEN_READ =
            "00000001"
                    + "00000000"
                    + "0000000000000007"
                    + "00000000"
                    + "00001000"
                    + "0000000000002000"
                    + "0000000123456000"
                    + "00".repeat(24);

    private final byte[] bytes = filled();
    private final MemorySegment memory = MemorySegment.ofArray(bytes);

    @Test
    void shouldWriteTheGoldenReadAndTouchNothingAround() {
        IoMessageView.write(memory, 8, IoType.READ.code(), 7, 0, 4096, 0x2000, 0x1_2345_6000L);

        assertThat(HexFormat.of().formatHex(bytes, 8, 72)).isEqualTo(GOLDEN_READ);
        assertThat(HexFormat.of().formatHex(bytes, 0, 8)).isEqualTo("a5".repeat(8));
        assertThat(HexFormat.of().formatHex(bytes, 72, 80)).isEqualTo("a5".repeat(8));
    }

    @Test
    void shouldReadTheGoldenRead() {
        put(GOLDEN_READ);

        requireFields(8, IoType.READ.code(), 7, 0, 4096, 0x2000, 0x1_2345_6000L);
    }

    @Test
    void shouldTurnARequestIntoItsAnswerInPlace() {
        put(GOLDEN_READ);

        IoMessageView.writeResult(memory, 8, Status.INVALID_VALUE.code());

        assertThat(HexFormat.of().formatHex(bytes, 8, 72))
                .isEqualTo(
                        "00000000"
                                + GOLDEN_READ.substring(8, 32)
                                + "00000006"
                                + GOLDEN_READ.substring(40));
    }

    @Test
    void shouldBringBackWhatWasWritten(SeededRandom random) {
        for (int round = 0; round < 1000; round++) {
            int type = random.nextInt();
            long userData = random.nextLong();
            int result = random.nextInt();
            int size = random.nextInt();
            long requesterOffset = random.nextLong();
            long storageOffset = random.nextLong();

            IoMessageView.write(
                    memory, 3, type, userData, result, size, requesterOffset, storageOffset);

            requireFields(
                    3,
                    type,
                    userData,
                    result,
                    Integer.toUnsignedLong(size),
                    requesterOffset,
                    storageOffset);
        }
    }

    private void requireFields(
            long at,
            int type,
            long userData,
            int result,
            long ioSize,
            long requesterOffset,
            long storageOffset) {
        assertThat(IoMessageView.type(memory, at)).isEqualTo(type);
        assertThat(IoMessageView.userData(memory, at)).isEqualTo(userData);
        assertThat(IoMessageView.result(memory, at)).isEqualTo(result);
        assertThat(IoMessageView.ioSizeBytes(memory, at)).isEqualTo(ioSize);
        assertThat(IoMessageView.requesterOffset(memory, at)).isEqualTo(requesterOffset);
        assertThat(IoMessageView.storageOffset(memory, at)).isEqualTo(storageOffset);
    }

    private void put(String hex) {
        byte[] message = HexFormat.of().parseHex(hex);
        System.arraycopy(message, 0, bytes, 8, message.length);
    }

    private static byte[] filled() {
        byte[] bytes = new byte[80];
        Arrays.fill(bytes, (byte) 0xA5);
        return bytes;
    }
}
