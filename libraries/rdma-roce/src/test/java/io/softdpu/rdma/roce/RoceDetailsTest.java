package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.testkit.GoldenBytes;
import io.softdpu.testkit.SeededRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoceDetailsTest {
    private static final GoldenBytes GOLDEN =
            GoldenBytes.of(
                    "0002" // version
                            + "0000" // form
                            + "12b7" // UDP port
                            + "08" // prefix length
                            + "00"
                            + "00000000000000000000ffff7f030001" // GID
                            + "0b000000000000010c00000000000002" // kernel
                            + "00000000f0000098" // namespace
                            + "00000102" // queue pair
                            + "0400" // path MTU
                            + "000e" // RNR timer
                            + "0000000000400000" // receive buffer
                            + "01020304050607081112131415161718" // key
                            + "00abcdef"); // first PSN

    private static final Gid ADDRESS = new Gid(0, 0xffff_7f03_0001L);

    private static final RoceDetails VALUE =
            new RoceDetails(
                    ADDRESS,
                    new LocalNetwork(
                            ADDRESS,
                            8,
                            new UUID(0x0b00000000000001L, 0x0c00000000000002L),
                            0xf0000098L),
                    0x102,
                    1024,
                    new RnrTimer(14),
                    4 << 20,
                    new ConnectKey(0x0102030405060708L, 0x1112131415161718L),
                    0xabcdef);

    @Test
    void shouldWriteTheGoldenBytes() {
        assertThat(VALUE.encode()).isEqualTo(GOLDEN.bytes());
    }

    @Test
    void shouldReadTheGoldenBytes() {
        assertThat(RoceDetails.decode(GOLDEN.bytes())).isEqualTo(VALUE);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 01, form=1",
        "80, 01, firstPsn=28036591",
        "4, 00, port=183",
        "5, b6, port=4790",
        "5, b8, port=4792",
        "4, 7f, port=32695",
        "4, c0, port=49335",
        "6, 21, prefixLength=33", // of IPv4
        "7, 01, reserved=1",
        "48, 01, queuePair=16777474",
        "53, 01, bitsOfPathMtuBytes=2",
        "52, 00, pathMtuBytes=0",
        "52, 20, pathMtuBytes=8192",
        "55, 20, rnrTimerCode=32",
        "56, 80, receiveBufferBytes=-9223372036850581504"
    })
    void shouldNameADamagedField(int offset, String hex, String expected) {
        assertThatThrownBy(() -> RoceDetails.decode(GOLDEN.with(offset, hex)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll(
                        "roce connection details refused: ", expected, "expected=");
    }

    @ParameterizedTest
    @ValueSource(ints = {4791, 0x8000, 0xbfff})
    void shouldReadThePortsOfNics(int port) {
        assertThat(RoceDetails.decode(withPort(port)).gid().port()).isEqualTo(port);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0x7fff, 0xc000, 0xffff})
    void shouldRefuseOtherPorts(int port) {
        assertThatThrownBy(() -> RoceDetails.decode(withPort(port)))
                .hasMessage(
                        "roce connection details refused: port="
                                + port
                                + ", expected=4791, or 32768 to 49151");
    }

    private static byte[] withPort(int port) {
        return GOLDEN.with(4, HexFormat.of().toHexDigits((short) port));
    }

    @Test
    void shouldTellALaterVersionFromDamage() {
        byte[] later = Arrays.copyOf(GOLDEN.bytes(), 300);
        later[1] = 3;

        assertThatThrownBy(() -> RoceDetails.decode(later))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED_VERSION))
                .hasMessageContaining("version=3, expected=2");
    }

    @Test
    void shouldOnlyEverAnswerWithAValueOrADpuException(SeededRandom random) {
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = GOLDEN.hostile(random);
            try {
                assertThat(RoceDetails.decode(bytes).encode()).isEqualTo(bytes);
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.UNSUPPORTED_VERSION);
            }
        }
    }

    @Test
    void shouldKeepKeysOutOfMessages() {
        assertThat(VALUE.toString()).doesNotContain("102030405060708");
    }
}
