package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.ConnectionBlob;
import io.softdpu.testkit.GoldenBytes;
import io.softdpu.testkit.SeededRandom;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoceQueuePairTest {
    private static final String NUMBERS =
            "0002" // version
                    + "0001" // form
                    + "0400" // path MTU
                    + "0010" // read limit
                    + "00000000000000000000ffff7f030001" // GID
                    + "00000102" // queue pair
                    + "00abcdef"; // first PSN

    private static final RoceQueuePair VALUE =
            new RoceQueuePair(InetAddress.ofLiteral("127.3.0.1"), 0x102, 0xabcdef, 1024, 16);

    private static final int PROCESS_OFFSET = 32;

    /** With the random number of this process. */
    private static final GoldenBytes GOLDEN =
            GoldenBytes.of(NUMBERS + HexFormat.of().formatHex(VALUE.encode(), PROCESS_OFFSET, 48));

    @Test
    void shouldWriteTheGoldenBytes() {
        assertThat(VALUE.encode()).isEqualTo(GOLDEN.bytes());
        assertThat(new RoceQueuePair(VALUE.gid(), 2, 0, 256, 0).encode())
                .as("the same process")
                .endsWith(Arrays.copyOfRange(GOLDEN.bytes(), PROCESS_OFFSET, 48));
    }

    /** One that a peer has made up would be connected to the address in it, without a key. */
    @ParameterizedTest
    @ValueSource(ints = {0, 7, 8, 15})
    void shouldRefuseNumbersOfAnotherProcess(int place) {
        byte[] foreign = GOLDEN.bytes();
        foreign[PROCESS_OFFSET + place] ^= 1;
        assertRefused(foreign);
        Arrays.fill(foreign, PROCESS_OFFSET, foreign.length, (byte) 0);
        assertRefused(foreign);
    }

    private static void assertRefused(byte[] foreign) {
        assertThatThrownBy(() -> RoceQueuePair.decode(foreign))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("of another process");
    }

    @Test
    void shouldRefuseAnotherLength() {
        byte[] bytes = GOLDEN.bytes();
        for (int length : new int[] {4, PROCESS_OFFSET, bytes.length - 1, bytes.length + 1}) {
            assertThatThrownBy(() -> RoceQueuePair.decode(Arrays.copyOf(bytes, length)))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("sizeBytes=" + length + ", expected=48");
        }
    }

    @Test
    void shouldReadTheGoldenBytes() {
        assertThat(RoceQueuePair.decode(GOLDEN.bytes())).isEqualTo(VALUE);
    }

    @Test
    void shouldMakeABlobWithItsSectionAlone() {
        ConnectionBlob blob = ConnectionBlob.decode(VALUE.blob());
        assertThat(blob.providerNames()).containsExactly("roce");
        assertThat(blob.permissions())
                .isEqualTo(
                        Permissions.of(
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE,
                                AccessFlag.RDMA_ATOMIC));
        ConnectionBlob.Section section = Objects.requireNonNull(blob.sectionOf(2));
        assertThat(RoceQueuePair.decode(section.details())).isEqualTo(VALUE);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 00, form=0",
        "4, 20, pathMtuBytes=8192",
        "5, 01, bitsOfPathMtuBytes=2",
        "6, 01, readLimit=272",
        "24, 01, queuePair=16777474",
        "28, 01, firstPsn=28036591"
    })
    void shouldNameADamagedField(int offset, String hex, String expected) {
        assertThatThrownBy(() -> RoceQueuePair.decode(GOLDEN.with(offset, hex)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll(
                        "roce connection details refused: ", expected, "expected=");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 1024, 16, queuePair=0",
        "1, 0, 1024, 16, queuePair=1",
        "-1, 0, 1024, 16, queuePair=-1",
        "16777216, 0, 1024, 16, queuePair=16777216",
        "2, -1, 1024, 16, firstPsn=-1",
        "2, 16777216, 1024, 16, firstPsn=16777216",
        "2, 0, 128, 16, pathMtuBytes=128",
        "2, 0, 1500, 16, bitsOfPathMtuBytes=7",
        "2, 0, 1024, -1, readLimit=-1",
        "2, 0, 1024, 256, readLimit=256"
    })
    void shouldRefuseIllegalNumbers(
            int number, int firstPsn, int pathMtuBytes, int readLimit, String expected) {
        assertThatThrownBy(() ->
                        new RoceQueuePair(VALUE.gid(), number, firstPsn, pathMtuBytes, readLimit))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(expected);
    }

    @Test
    void shouldOnlyEverAnswerWithAValueOrADpuException(SeededRandom random) {
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = GOLDEN.hostile(random);
            try {
                assertThat(RoceQueuePair.decode(bytes).encode()).isEqualTo(bytes);
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.UNSUPPORTED_VERSION);
            }
        }
    }
}
