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
            "53445352 0002 01 00"
                    + "0102030405060708 1112131415161718"
                    + "2122232425262728 3132333435363738"
                    + "8182838485868788 9192939495969798"
                    + "4142434445464748 5152535455565758"
                    + "6162636465666768 7172737475767778"
                    + "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
                    + "00007f1234560000 deadbeef"
                    + "00000000000000000000ffff0a000002"
                    + "02 7030 000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000"
                    + "52d7216b";

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN.replace(" ", ""));
    }

    private static RemoteEventBlob blob(Side side) {
        byte[] hash = new byte[16];
        Arrays.fill(hash, (byte) 0xa5);
        return new RemoteEventBlob(
                side,
                new RegionAddress.Id(0x0102030405060708L, 0x1112131415161718L),
                new RegionAddress.Id(0x2122232425262728L, 0x3132333435363738L),
                new RegionAddress.Id(0x8182838485868788L, 0x9192939495969798L),
                new RegionAddress.Id(0x4142434445464748L, 0x5152535455565758L),
                new RegionAddress.Id(0x6162636465666768L, 0x7172737475767778L),
                hash,
                0x7f1234560000L,
                0xdeadbeef,
                HexFormat.of().parseHex("00000000000000000000ffff0a000002"),
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
        assertThat(read.topologyDigest()).isEqualTo(blob.topologyDigest());
        assertThat(read.address()).isEqualTo(0x7f1234560000L);
        assertThat(read.remoteKey()).isEqualTo(0xdeadbeef);
        assertThat(read.gid()).isEqualTo(blob.gid());
        assertThat(read.hasGid(blob.gid())).isTrue();
        assertThat(read.hasGid(new byte[16])).isFalse();
        assertThat(read.interfaceName()).isEqualTo("p0");
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheSide(Side side) {
        assertThat(RemoteEventBlob.decode(blob(side).encode()).side()).isEqualTo(side);
    }

    @Test
    void shouldTellBlobsApart() {
        RemoteEventBlob blob = blob(Side.DPU);
        assertThat(blob(Side.HOST)).isNotEqualTo(blob);
        assertThat(blob.hashCode()).as("of the numbers, which are not 0").isNotZero();
        assertThat(blob.toString())
                .startsWith("event=" + blob.eventId())
                .contains(", device=dpu/p0, ");
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

    @Test
    void shouldRefuseTheVersionBefore() {
        byte[] before = golden();
        before[5] = 1;
        Thrown.with(Status.UNSUPPORTED_VERSION, () -> RemoteEventBlob.decode(before))
                .hasMessageContaining("version=1, expected=2");
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
        "111, 04, address", // no multiple of eight
        "112, 00, RDMA key", // with the bytes behind it
        "132, 00, length of interface name",
        "132, 21, length of interface name",
        "133, 20, interface name",
        "133, 7f, interface name",
        "135, 41, end of interface name",
        "164, 41, end of interface name",
        "165, 01, padding",
        "179, 01, padding",
        "180, 00, check",
    })
    void shouldNameTheWrongField(int at, String hex, String field) {
        byte[] changed = golden();
        if (at == 112) {
            Arrays.fill(changed, 112, 116, (byte) 0);
        }
        changed[at] = HexFormat.of().parseHex(hex)[0];
        Thrown.with(Status.INVALID_VALUE, () -> RemoteEventBlob.decode(changed))
                .hasMessageContaining("field=" + field);
    }

    @Test
    void shouldKeepTheKeysFromMessages() {
        assertThat(blob(Side.DPU).toString())
                .doesNotContain("deadbeef")
                .doesNotContain("6162636465666768")
                .doesNotContain("7172737475767778");
    }
}
