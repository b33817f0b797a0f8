package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.testkit.GoldenBytes;
import io.softdpu.testkit.SeededRandom;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShmDetailsTest {
    // 128 slots of 65 lines, 1,024 bytes before them and 128 before the ring: 0x82480
    private static final GoldenBytes GOLDEN =
            GoldenBytes.of(
                    "03000000" // version
                            + "80000000" // slots
                            + "00100000" // max payload
                            + "0004" // path MTU
                            + "0e00" // RNR timer
                            + "08070605040302011807060504030211" // key
                            + "000000000000000b 010000000000000c" // kernel
                            + "020000000000000d 030000000000000e" // fabric
                            + "040000000000000f 0500000000000010" // bus
                            + "2a00000000000000" // region
                            + "0600000000000011 0700000000000012" // key of the region
                            + "8024080000000000");

    private static final ShmDetails VALUE =
            new ShmDetails(
                    new MessageRing.Geometry(128, 4096),
                    new ShmDetails.Key(0x0102030405060708L, 0x1102030405060718L),
                    new RegionAddress(
                            new RegionAddress.Id(0x0b00000000000000L, 0x0c00000000000001L),
                            new RegionAddress.Id(0x0d00000000000002L, 0x0e00000000000003L),
                            new RegionAddress.Id(0x0f00000000000004L, 0x1000000000000005L),
                            42,
                            new RegionAddress.Id(0x1100000000000006L, 0x1200000000000007L),
                            0x82480),
                    1024,
                    new RnrTimer(14));

    private static final String REFUSED = "shm connection details refused: ";

    @Test
    void shouldWriteTheGoldenBytes() {
        assertThat(VALUE.encode()).isEqualTo(GOLDEN.bytes());
    }

    @Test
    void shouldReadTheGoldenBytes() {
        assertThat(ShmDetails.decode(GOLDEN.bytes())).isEqualTo(VALUE);
    }

    @ParameterizedTest
    @CsvSource({
        "4, 81", // slots: no power of two
        "5, 08", // too many
        "4, 00", // none
        "9, 20", // payload that the region's size does not fit
        "9, 00", // too small
        "10, 10", // too large
        "12, 01", // path MTU: no power of two
        "13, 00", // too small
        "13, 20", // too large
        "14, 20", // no code of an RNR timer
        "15, 01",
        "104, 81", // region too large
        "111, 80" // negative
    })
    void shouldRefuseADamagedField(int offset, String hex) {
        assertThatThrownBy(() -> ShmDetails.decode(GOLDEN.with(offset, hex)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
    }

    @Test
    void shouldRefuseAnEarlierVersion() {
        byte[] earlier = GOLDEN.bytes();
        earlier[0] = 2; // with an index of the sender in the ring

        assertThatThrownBy(() -> ShmDetails.decode(earlier))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED_VERSION))
                .hasMessageContaining("version=2, expected=3");
    }

    @Test
    void shouldTellALaterVersionFromDamage() {
        byte[] later = Arrays.copyOf(GOLDEN.bytes(), 300);
        later[0] = 4;

        assertThatThrownBy(() -> ShmDetails.decode(later))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED_VERSION));
    }

    @Test
    void shouldOnlyEverAnswerWithAValueOrADpuException(SeededRandom random) {
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = GOLDEN.hostile(random);
            try {
                assertThat(ShmDetails.decode(bytes).encode()).isEqualTo(bytes);
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.UNSUPPORTED_VERSION);
            }
        }
    }

    @Test
    void shouldKeepKeysOutOfMessages() {
        assertThat(VALUE.toString()).doesNotContain("102030405060708");
    }

    @ParameterizedTest
    @CsvSource({"1024, 256", "1, 16384"})
    void shouldTakeTheLeastAndTheMostOfEachField(int slots, int payloadBytes) {
        ShmDetails details = details(slots, payloadBytes);

        assertThat(ShmDetails.decode(details.encode())).isEqualTo(details);
    }

    @Test
    void shouldNameWhatIsBeyondTheLimits() {
        assertThatThrownBy(() -> details(2048, 256))
                .hasMessage(REFUSED + "slots=2048, expected=a power of two up to 1024");
        assertThatThrownBy(() -> details(1, 255))
                .hasMessage(REFUSED + "maxPayloadBytes=255, expected=256 to 16384");
        assertThatThrownBy(() -> details(1, 16_385))
                .hasMessage(REFUSED + "maxPayloadBytes=16385, expected=256 to 16384");
        byte[] version = {ShmDetails.VERSION, 0, 0, 0};
        for (int length : new int[] {0, 3, 4}) {
            assertThatThrownBy(() -> ShmDetails.decode(Arrays.copyOf(version, length)))
                    .hasMessage(REFUSED + Text.format("sizeBytes=%d, expected=112", length));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "12; 300; pathMtuBytes=300, expected=a power of two, 256 to 4096",
                "12; 128; pathMtuBytes=128, expected=a power of two, 256 to 4096",
                "12; 8192; pathMtuBytes=8192, expected=a power of two, 256 to 4096",
                "14; 32; rnrTimerCode=32, expected=0 to 31",
                "14; 65535; rnrTimerCode=65535, expected=0 to 31"
            })
    void shouldNameAPropertyBeyondItsLimits(int offset, int value, String message) {
        byte[] bytes = VALUE.encode();
        bytes[offset] = (byte) value;
        bytes[offset + 1] = (byte) (value >>> 8);

        assertThatThrownBy(() -> ShmDetails.decode(bytes))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessage(REFUSED + message);
    }

    @Test
    void shouldNameARegionOfAnotherSize() {
        byte[] bytes = VALUE.encode();
        MessageRing.Geometry twice = new MessageRing.Geometry(2 * VALUE.geometry().slots(), 4096);
        bytes[4] = (byte) twice.slots();
        bytes[5] = (byte) (twice.slots() >>> 8);

        assertThatThrownBy(() -> ShmDetails.decode(bytes))
                .hasMessage(
                        REFUSED
                                + Text.format(
                                        "regionBytes=%d, expected=%d",
                                        VALUE.region().sizeBytes(), ShmDetails.regionBytes(twice)));
    }

    private static ShmDetails details(int slots, int payloadBytes) {
        MessageRing.Geometry geometry = new MessageRing.Geometry(slots, payloadBytes);
        RegionAddress region = VALUE.region();
        return new ShmDetails(
                geometry,
                VALUE.key(),
                new RegionAddress(
                        region.bootId(),
                        region.fabricId(),
                        region.busId(),
                        region.regionId(),
                        region.key(),
                        ShmDetails.regionBytes(geometry)),
                VALUE.pathMtuBytes(),
                VALUE.rnrTimer());
    }
}
