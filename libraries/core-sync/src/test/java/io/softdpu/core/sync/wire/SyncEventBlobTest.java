package io.softdpu.core.sync.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.sync.wire.SyncEventBlob.Place;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Clause;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SyncEventBlobTest {
    private static final String GOLDEN =
            "53445345 0001 00 01"
                    + "0102030405060708 1112131415161718"
                    + "2122232425262728 3132333435363738"
                    + "4142434445464748 5152535455565758"
                    + "6162636465666768 7172737475767778"
                    + "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
                    + "00 03 706630 0000000000000000000000000000000000000000000000000000000000"
                    + "0000000000000000000000000000000000000000000000000000"
                    + "59f4031f";

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN.replace(" ", ""));
    }

    private static SyncEventBlob blob(Place publisher, Place subscriber) {
        return blob(publisher, subscriber, "pf0");
    }

    private static byte[] hash() {
        byte[] hash = new byte[32];
        Arrays.fill(hash, (byte) 0xa5);
        return hash;
    }

    private static SyncEventBlob blob(Place publisher, Place subscriber, String interfaceName) {
        return new SyncEventBlob(
                publisher,
                subscriber,
                new RegionAddress.Id(0x0102030405060708L, 0x1112131415161718L),
                new RegionAddress.Id(0x2122232425262728L, 0x3132333435363738L),
                new RegionAddress.Id(0x4142434445464748L, 0x5152535455565758L),
                new RegionAddress.Id(0x6162636465666768L, 0x7172737475767778L),
                hash(),
                interfaceName);
    }

    @Test
    @Clause("core-186")
    void shouldBeTheGoldenBytesBothWays() {
        SyncEventBlob blob = blob(Place.CPU, Place.DPU);
        assertThat(HexFormat.of().formatHex(blob.encode()))
                .isEqualTo(HexFormat.of().formatHex(golden()));
        SyncEventBlob read = SyncEventBlob.decode(golden());
        assertThat(read).isEqualTo(blob).hasSameHashCodeAs(blob);
        assertThat(read.publisher()).isEqualTo(Place.CPU);
        assertThat(read.subscriber()).isEqualTo(Place.DPU);
        assertThat(read.bootId()).isEqualTo(blob.bootId());
        assertThat(read.fabricId()).isEqualTo(blob.fabricId());
        assertThat(read.eventId()).isEqualTo(blob.eventId());
        assertThat(read.key()).isEqualTo(blob.key());
        assertThat(read.topologySha256()).isEqualTo(hash());
        assertThat(read.side()).isEqualTo(Side.HOST);
        assertThat(read.interfaceName()).isEqualTo("pf0");
        assertThat(blob(Place.DPU, Place.CPU)).isNotEqualTo(blob);
        assertThat(blob.hashCode()).as("of the numbers, which are not 0").isNotZero();
        SyncEventBlob ofPeers = blob(Place.REMOTE, Place.DPU);
        assertThat(ofPeers.encode()[6]).isEqualTo((byte) 2);
        assertThat(SyncEventBlob.decode(ofPeers.encode())).isEqualTo(ofPeers);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 32})
    void shouldHaveANameOfEachLegalLength(int length) {
        SyncEventBlob named = blob(Place.CPU, Place.DPU, "x".repeat(length));

        SyncEventBlob read = SyncEventBlob.decode(named.encode());

        assertThat(read.interfaceName()).isEqualTo("x".repeat(length));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 33})
    void shouldRefuseANameOfAnotherLength(int length) {
        Thrown.with(Status.INVALID_VALUE, () -> blob(Place.CPU, Place.DPU, "x".repeat(length)))
                .hasMessageContaining("field=interface name, value=" + length);
    }

    @Test
    void shouldRefuseEachBlobWithOneByteChanged() {
        byte[] golden = golden();
        for (int at = 0; at < golden.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] changed = golden.clone();
                changed[at] ^= (byte) (1 << bit);
                Status expected =
                        at == 4 || at == 5 ? Status.UNSUPPORTED_VERSION : Status.INVALID_VALUE;
                Thrown.with(expected, () -> SyncEventBlob.decode(changed));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {168, 200})
    void shouldSayThatItIsTheExportOfAnMmap(int length) {
        byte[] export = new byte[length];
        System.arraycopy(new byte[] {'S', 'D', 'M', 'X'}, 0, export, 0, 4);
        Thrown.with(Status.INVALID_VALUE, () -> SyncEventBlob.decode(export))
                .hasMessageContaining(", blob=an export of an mmap, for Mmap.createFromExport, ");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 167, 169, 4096})
    void shouldRefuseOtherLengths(int length) {
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> SyncEventBlob.decode(Arrays.copyOf(golden(), length)))
                .hasMessageContaining("field=length");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 00, magic",
        "6, 03, publisher",
        "7, 03, subscriber",
        "7, 00, locations",
        "104, 01, side",
        "105, 00, length of interface name",
        "105, 21, length of interface name",
        "106, 20, interface name",
        "106, 7f, interface name",
        "109, 41, end of interface name",
        "138, 01, padding",
        "163, 01, padding",
        "164, 00, check",
    })
    void shouldNameTheWrongField(int at, String hex, String field) {
        byte[] changed = golden();
        changed[at] = HexFormat.of().parseHex(hex)[0];
        Thrown.with(Status.INVALID_VALUE, () -> SyncEventBlob.decode(changed))
                .hasMessageContaining("field=" + field);
    }

    @Test
    void shouldNameTheEventAndKeepTheKeyFromMessages() {
        SyncEventBlob blob = blob(Place.CPU, Place.DPU);
        assertThat(blob.toString())
                .startsWith("event=" + blob.eventId() + ", device=host/pf0, ")
                .doesNotContain("6162636465666768")
                .doesNotContain("7172737475767778");
    }

    @Test
    void shouldRefuseValuesThatNoBlobHas() {
        Thrown.with(Status.INVALID_VALUE, () -> blob(Place.CPU, Place.CPU))
                .hasMessageContaining("locations");
        SyncEventBlob good = blob(Place.DPU, Place.DPU);
        Thrown.with(
                        Status.INVALID_VALUE,
                        () ->
                                new SyncEventBlob(
                                        Place.DPU,
                                        Place.DPU,
                                        good.bootId(),
                                        good.fabricId(),
                                        good.eventId(),
                                        good.key(),
                                        new byte[31],
                                        "pf0"))
                .hasMessageContaining("topology");
    }
}
