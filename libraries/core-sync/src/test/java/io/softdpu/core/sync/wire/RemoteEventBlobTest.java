package io.softdpu.core.sync.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.fabric.wire.RegionAddress;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteEventBlobTest {
    private static final String GOLDEN =
            "53445352 0001 01 00"
                    + "0102030405060708 1112131415161718"
                    + "2122232425262728 3132333435363738"
                    + "8182838485868788 9192939495969798"
                    + "4142434445464748 5152535455565758"
                    + "6162636465666768 7172737475767778"
                    + "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
                    + "02 7030 000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000"
                    + "a04aa68e";

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN.replace(" ", ""));
    }

    private static RemoteEventBlob blob(Side side) {
        byte[] hash = new byte[32];
        Arrays.fill(hash, (byte) 0xa5);
        return new RemoteEventBlob(
                side,
                new RegionAddress.Id(0x0102030405060708L, 0x1112131415161718L),
                new RegionAddress.Id(0x2122232425262728L, 0x3132333435363738L),
                new RegionAddress.Id(0x8182838485868788L, 0x9192939495969798L),
                new RegionAddress.Id(0x4142434445464748L, 0x5152535455565758L),
                new RegionAddress.Id(0x6162636465666768L, 0x7172737475767778L),
                hash,
                "p0");
    }

    @Test
    void shouldBeTheGoldenBytesBothWays() {
        RemoteEventBlob blob = blob(Side.DPU);
        assertThat(HexFormat.of().formatHex(blob.encode()))
                .isEqualTo(HexFormat.of().formatHex(golden()));
        RemoteEventBlob read = RemoteEventBlob.decode(golden());
        assertThat(read).isEqualTo(blob).hasSameHashCodeAs(blob);
        assertThat(read.side()).isEqualTo(Side.DPU);
        assertThat(read.bootId()).isEqualTo(blob.bootId());
        assertThat(read.fabricId()).isEqualTo(blob.fabricId());
        assertThat(read.busId()).isEqualTo(blob.busId());
        assertThat(read.eventId()).isEqualTo(blob.eventId());
        assertThat(read.key()).isEqualTo(blob.key());
        assertThat(read.topologySha256()).isEqualTo(blob.topologySha256());
        assertThat(read.interfaceName()).isEqualTo("p0");
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheSide(Side side) {
        assertThat(RemoteEventBlob.decode(blob(side).encode()).side()).isEqualTo(side);
    }

    @Test
    void shouldRefuseEachBlobWithOneBitChanged() {
        byte[] golden = golden();
        for (int at = 0; at < golden.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] changed = golden.clone();
                changed[at] ^= (byte) (1 << bit);
                Status expected =
                        at == 4 || at == 5 ? Status.UNSUPPORTED_VERSION : Status.INVALID_VALUE;
                Thrown.with(expected, () -> RemoteEventBlob.decode(changed));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 183, 185, 4096})
    void shouldRefuseOtherLengths(int length) {
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> RemoteEventBlob.decode(Arrays.copyOf(golden(), length)))
                .hasMessageContaining("field=length");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 00, magic",
        "6, 03, side",
        "7, 01, reserved",
        "120, 00, length of interface name",
        "120, 21, length of interface name",
        "121, 20, interface name",
        "121, 7f, interface name",
        "123, 41, end of interface name",
        "152, 41, end of interface name",
        "153, 01, padding",
        "179, 01, padding",
        "180, 00, check",
    })
    void shouldNameTheWrongField(int at, String hex, String field) {
        byte[] changed = golden();
        changed[at] = HexFormat.of().parseHex(hex)[0];
        Thrown.with(Status.INVALID_VALUE, () -> RemoteEventBlob.decode(changed))
                .hasMessageContaining("field=" + field);
    }

    @Test
    void shouldKeepTheKeyFromMessages() {
        assertThat(blob(Side.DPU).toString())
                .doesNotContain("6162636465666768")
                .doesNotContain("7172737475767778");
    }
}
