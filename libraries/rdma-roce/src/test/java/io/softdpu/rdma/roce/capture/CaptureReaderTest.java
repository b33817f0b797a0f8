package io.softdpu.rdma.roce.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CaptureReaderTest {
    private static final byte[] FRAME = {1, 2, 3};

    private static CaptureReader reader(byte[] bytes) throws IOException {
        return new CaptureReader(new ByteArrayInputStream(bytes));
    }

    @ParameterizedTest
    @CsvSource({
        "LITTLE, 0xa1b2c3d4, 7000",
        "BIG, 0xa1b2c3d4, 7000",
        "LITTLE, 0xa1b23c4d, 7",
        "BIG, 0xa1b23c4d, 7"
    })
    void shouldReadEitherByteOrderAndUnitOfTime(String endian, long magic, long nanos)
            throws IOException {
        ByteOrder order = endian.equals("BIG") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        CaptureFile file = new CaptureFile(order, (int) magic, 101);
        file.add(-1, 7, FRAME).add(0, 0, new byte[0]).add(1, 2, new byte[100], 60);
        CaptureReader reader = reader(file.bytes());

        assertThat(reader.linkType()).isEqualTo(LinkType.RAW_IP);
        assertThat(reader.isNanoseconds()).isEqualTo(nanos == 7);
        assertThat(reader.next()).isTrue();
        assertThat(reader.timeNanos()).isEqualTo(0xffff_ffffL * 1_000_000_000 + nanos);
        assertThat(reader.number()).isEqualTo(1);
        assertThat(Arrays.copyOf(reader.bytes(), reader.frameBytes())).isEqualTo(FRAME);
        assertThat(reader.next()).isTrue();
        assertThat(reader.frameBytes()).isZero();
        assertThat(reader.next()).isTrue();
        assertThat(reader.frameBytes()).isEqualTo(60);
        assertThat(reader.number()).isEqualTo(3);
        assertThat(reader.next()).isFalse();
    }

    @Test
    void shouldRefuseAFileThatIsCutWithTheOffset() throws IOException {
        byte[] whole = CaptureFile.ethernet().add(1, 2, FRAME).add(1, 2, FRAME).bytes();
        for (int size = 0; size < 24; size++) {
            byte[] cut = Arrays.copyOf(whole, size);
            assertThatThrownBy(() -> reader(cut))
                    .isInstanceOf(DpuException.class)
                    .hasMessage(
                            "capture is cut: offsetBytes=0, foundBytes="
                                    + size
                                    + ", expectedBytes="
                                    + (size < 4 ? 4 : 24));
        }
        for (int size = 24 + 19 + 1; size < whole.length; size++) {
            CaptureReader reader = reader(Arrays.copyOf(whole, size));
            assertThat(reader.next()).isTrue();
            assertThatThrownBy(reader::next)
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageStartingWith("capture is cut: offsetBytes=43, foundBytes=");
        }
    }

    @Test
    void shouldRefuseARecordThatIsTooLargeWithoutReadingIt() throws IOException {
        CaptureReader largest =
                reader(
                        CaptureFile.ethernet()
                                .add(0, 0, new byte[CaptureReader.MAX_FRAME_BYTES])
                                .bytes());
        assertThat(largest.next()).isTrue();
        for (int size : new int[] {CaptureReader.MAX_FRAME_BYTES + 1, -1}) {
            CaptureReader reader =
                    reader(CaptureFile.ethernet().add(0, 0, new byte[9], size).bytes());
            assertThatThrownBy(reader::next)
                    .isInstanceOf(DpuException.class)
                    .hasMessage(
                            "capture refused: offsetBytes=24, field=record size, value="
                                    + Integer.toUnsignedString(size)
                                    + ", expected=0 to 262144");
        }
    }

    @Test
    void shouldNameAConversionOfOtherFormats() {
        assertThatThrownBy(() -> reader(new byte[] {10, 13, 13, 10, 0, 0, 0, 0}))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContainingAll("format=pcapng", "editcap -F pcap");
        assertThatThrownBy(() ->
                        reader(new CaptureFile(ByteOrder.BIG_ENDIAN, 0xa1b2c3d4, 127).bytes()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContaining(
                        "linkType=127, expected=1 (Ethernet), 101 (raw IP), 113 or 276 (Linux"
                                + " cooked)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"abcd", "this is no capture, but a text of some length"})
    void shouldRefuseWhatIsNoCapture(String text) {
        assertThatThrownBy(() -> reader(text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll("offsetBytes=0, field=magic, value=0x", "that of pcap");
    }

    @Test
    void shouldRefuseAnotherVersion() {
        byte[] bytes = CaptureFile.ethernet().bytes();
        bytes[4] = 1;
        assertThatThrownBy(() -> reader(bytes))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("offsetBytes=4, field=version, value=1, expected=2");
    }

    /** A file of any bytes ends, or is refused. */
    @Test
    void shouldThrowNothingButARefusalForAnyBytes(SeededRandom random) throws IOException {
        byte[] whole = CaptureFile.ethernet().add(1, 2, FRAME).add(1, 2, FRAME).bytes();
        for (int round = 0; round < 300; round++) {
            try {
                CaptureReader reader = reader(random.damaged(whole));
                while (reader.next()) {
                    assertThat(reader.frameBytes()).isBetween(0, 22);
                }
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.NOT_SUPPORTED);
            }
        }
    }
}
