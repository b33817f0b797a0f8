package io.softdpu.storage.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class IoMessageTest {
    private static final String GOLDEN_READ =
            "00000001"
                    + "00000000"
                    + "0000000000000007"
                    + "00000000"
                    + "00001000"
                    + "0000000000002000"
                    + "0000000123456000"
                    + "00".repeat(24);
    private static final IoMessage READ =
            new IoMessage(IoType.READ, 7, Status.SUCCESS, 4096, 0x2000, 0x1_2345_6000L);

    private final byte[] bytes = filled();
    private final MemorySegment memory = MemorySegment.ofArray(bytes);

    @Test
    void shouldEncodeTheGoldenReadAndTouchNothingAround() {
        READ.encode(memory, 8);

        assertThat(HexFormat.of().formatHex(bytes, 8, 72)).isEqualTo(GOLDEN_READ);
        assertThat(HexFormat.of().formatHex(bytes, 0, 8)).isEqualTo("a5".repeat(8));
        assertThat(HexFormat.of().formatHex(bytes, 72, 80)).isEqualTo("a5".repeat(8));
    }

    @Test
    void shouldDecodeTheGoldenReadAndIgnoreGapAndPadding() {
        put(GOLDEN_READ);
        memory.set(ValueLayout.JAVA_BYTE, 8 + 5, (byte) 0x5A);
        memory.set(ValueLayout.JAVA_BYTE, 8 + 63, (byte) 0x5A);

        assertThat(IoMessage.decode(memory, 8, 64)).isEqualTo(READ);
    }

    @Test
    void shouldTurnARequestIntoItsAnswerInPlace() {
        put(GOLDEN_READ);

        IoMessageView.writeResult(memory, 8, Status.INVALID_VALUE.code());

        assertThat(IoMessage.decode(memory, 8, 64))
                .isEqualTo(
                        new IoMessage(
                                IoType.RESULT,
                                7,
                                Status.INVALID_VALUE,
                                4096,
                                0x2000,
                                0x1_2345_6000L));
    }

    @Test
    void shouldBringBackWhatWasEncoded(SeededRandom random) {
        for (int round = 0; round < 1000; round++) {
            IoType type = IoType.ofCode(random.nextInt(3));
            Status result =
                    type == IoType.RESULT ? Status.ofCode(random.nextInt(32)) : Status.SUCCESS;
            IoMessage message =
                    new IoMessage(
                            type,
                            random.nextLong(),
                            result,
                            random.nextLong(1L << 32),
                            random.nextLong() >>> 1,
                            random.nextLong() >>> 1);

            message.encode(memory, 3);

            assertThat(IoMessage.decode(memory, 3, 64)).isEqualTo(message);
        }
    }

    @Test
    void shouldRefuseAnotherLength() {
        put(GOLDEN_READ);

        for (long length : new long[] {0, 1, 63, 65}) {
            assertRefused(() -> IoMessage.decode(memory, 8, length), "length=" + length);
        }
    }

    @Test
    void shouldNameTheFieldThatIsIllegal() {
        put(GOLDEN_READ.replaceFirst("^00000001", "00000003"));
        assertRefused(() -> IoMessage.decode(memory, 8, 64), "type=3, expected=0 (result)");

        put(GOLDEN_READ.substring(0, 48) + "8" + GOLDEN_READ.substring(49));
        assertRefused(
                () -> IoMessage.decode(memory, 8, 64), "requester_offset=9223372036854784000");

        put(GOLDEN_READ.substring(0, 64) + "f" + GOLDEN_READ.substring(65));
        assertRefused(() -> IoMessage.decode(memory, 8, 64), "storage_offset=");

        put("00000000" + GOLDEN_READ.substring(8, 32) + "00000020" + GOLDEN_READ.substring(40));
        assertRefused(() -> IoMessage.decode(memory, 8, 64), "result=32, expected=a status code");

        put(GOLDEN_READ.substring(0, 32) + "00000006" + GOLDEN_READ.substring(40));
        assertRefused(
                () -> IoMessage.decode(memory, 8, 64), "result=INVALID_VALUE, expected=SUCCESS");
    }

    @Test
    void shouldTakeTheLargestSizeAsUnsigned() {
        new IoMessage(IoType.WRITE, -1, Status.SUCCESS, 0xFFFF_FFFFL, 0, 0).encode(memory, 0);

        assertThat(IoMessageView.ioSize(memory, 0)).isEqualTo(0xFFFF_FFFFL);
        assertThat(IoMessageView.userData(memory, 0)).isEqualTo(-1);
    }

    private void put(String hex) {
        byte[] message = HexFormat.of().parseHex(hex);
        System.arraycopy(message, 0, bytes, 8, message.length);
    }

    private static void assertRefused(Runnable decode, String reason) {
        assertThatThrownBy(decode::run)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(reason);
    }

    private static byte[] filled() {
        byte[] bytes = new byte[80];
        java.util.Arrays.fill(bytes, (byte) 0xA5);
        return bytes;
    }
}
