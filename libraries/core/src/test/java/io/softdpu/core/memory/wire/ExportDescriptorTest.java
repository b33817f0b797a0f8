package io.softdpu.core.memory.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.memory.wire.ExportDescriptor.Kind;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExportDescriptorTest {
    private static final RegionAddress REGION =
            new RegionAddress(
                    new RegionAddress.Id(0x0102030405060708L, 0x1112131415161718L),
                    new RegionAddress.Id(0x2122232425262728L, 0x3132333435363738L),
                    new RegionAddress.Id(0x4142434445464748L, 0x5152535455565758L),
                    7,
                    new RegionAddress.Id(0x6162636465666768L, 0x7172737475767778L),
                    0x10000);

    private static final String GOLDEN_RDMA =
            "53444d58 0002 0002 00000006 deadbeef"
                    + "0000000000010000 00007f1234560000"
                    + "00000000000000000000ffff7f030001"
                    + "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
                    + "0807060504030201 1817161514131211"
                    + "2827262524232221 3837363534333231"
                    + "4847464544434241 5857565554535251"
                    + "0700000000000000"
                    + "6867666564636261 7877767574737271"
                    + "0000010000000000"
                    + "01 02 7030"
                    + "000000000000000000000000000000000000000000000000000000000000"
                    + "0000 6865f92d";

    private static byte[] gid() {
        return HexFormat.of().parseHex("00000000000000000000ffff7f030001");
    }

    private static byte[] hash() {
        byte[] hash = new byte[32];
        Arrays.fill(hash, (byte) 0xa5);
        return hash;
    }

    private static ExportDescriptor rdma() {
        return new ExportDescriptor(
                Kind.RDMA,
                AccessBits.RDMA_READ | AccessBits.RDMA_WRITE,
                0xdeadbeef,
                0x10000,
                0x7f1234560000L,
                gid(),
                hash(),
                REGION,
                Side.DPU,
                "p0");
    }

    private static ExportDescriptor pci() {
        return new ExportDescriptor(
                Kind.PCI,
                AccessBits.LOCAL_READ_WRITE | AccessBits.PCI_READ_WRITE,
                0,
                0x10000,
                0x7f1234560000L,
                new byte[16],
                hash(),
                REGION,
                Side.HOST,
                "pf0vf1");
    }

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN_RDMA.replace(" ", ""));
    }

    @Test
    @Clause("core-086")
    void shouldBeTheGoldenBytesBothWays() {
        assertThat(rdma().encode()).isEqualTo(golden());
        ExportDescriptor read = ExportDescriptor.decode(golden());
        assertThat(read).isEqualTo(rdma()).hasSameHashCodeAs(rdma());
        assertThat(read.kind()).isEqualTo(Kind.RDMA);
        assertThat(read.permissions()).isEqualTo(6);
        assertThat(read.remoteKey()).isEqualTo(0xdeadbeef);
        assertThat(read.sizeBytes()).isEqualTo(0x10000);
        assertThat(read.address()).isEqualTo(0x7f1234560000L);
        assertThat(read.gid()).isEqualTo(gid());
        assertThat(read.topologySha256()).isEqualTo(hash());
        assertThat(read.region()).isEqualTo(REGION);
        assertThat(read.side()).isEqualTo(Side.DPU);
        assertThat(read.interfaceName()).isEqualTo("p0");
        assertThat(ExportDescriptor.decode(pci().encode())).isEqualTo(pci());
        assertThat(pci()).isNotEqualTo(rdma());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 00, magic",
        "7, 00, kind",
        "7, 03, kind",
        "8, 80, unknown access flags",
        "11, 00, permissions", // an RDMA export without RDMA rights
        "11, 16, permissions", // PCI rights in an RDMA export
        "11, 07, permissions", // local rights in an RDMA export
        "16, 80, size", // negative
        "23, 01, size", // not that of the region
        "24, ff, address", // the range wraps; with the bytes below set to ff as well
        "160, 03, side",
        "161, 00, length of interface name",
        "161, 21, length of interface name",
        "161, 01, end of interface name",
        "162, 20, interface name",
        "162, ff, interface name",
        "193, 01, end of interface name",
        "194, 01, padding",
        "195, 01, padding",
        "12, 01, check",
        "31, 01, check",
        "199, 01, check"
    })
    void shouldRefuseAFieldThatIsNotLegal(int offset, String hexByte, String field) {
        byte[] bytes = golden();
        if (offset == 24) {
            Arrays.fill(bytes, 24, 32, (byte) 0xff);
        }
        bytes[offset] = HexFormat.of().parseHex(hexByte)[0];
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(bytes))
                .hasMessageContaining(field);
    }

    @Test
    void shouldRefuseAnotherVersionAsSuch() {
        byte[] bytes = golden();
        bytes[5] = 1;
        Thrown.with(Status.UNSUPPORTED_VERSION, () -> ExportDescriptor.decode(bytes))
                .hasMessageContainingAll("version=1", "expected=2");
    }

    @Test
    void shouldRefuseAnotherLength() {
        for (int length : new int[] {0, 1, 199, 201, 4096}) {
            Thrown.with(
                            Status.INVALID_VALUE,
                            () -> ExportDescriptor.decode(Arrays.copyOf(golden(), length)))
                    .hasMessageContaining("value=" + length);
        }
    }

    @Test
    void shouldRefuseKeysWhereThereAreNone() {
        byte[] pci = pci().encode();
        pci[15] = 1;
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(pci));
        byte[] withGid = pci().encode();
        withGid[40] = 1;
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(withGid));
        byte[] rdma = golden();
        Arrays.fill(rdma, 12, 16, (byte) 0);
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(rdma));
    }

    @Test
    void shouldRefuseADamagedBlob(SeededRandom random) {
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = random.damaged(random.oneOf(golden(), pci().encode()));
            assertThatThrownBy(() -> ExportDescriptor.decode(damaged))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e ->
                                    assertThat(e.status())
                                            .isIn(
                                                    Status.INVALID_VALUE,
                                                    Status.UNSUPPORTED_VERSION));
        }
    }

    @Test
    void shouldNotShowItsKeys() {
        assertThat(rdma().toString())
                .contains("kind=RDMA", "dpu/p0", "sizeBytes=65536", "RDMA_READ, RDMA_WRITE]")
                .doesNotContainIgnoringCase("deadbeef")
                .doesNotContain("61626364");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0x80, 0x30, 0x40})
    void shouldRefuseFlagsThatDoNotFitTogether(int permissions) {
        Thrown.with(
                        Status.INVALID_VALUE,
                        () ->
                                new ExportDescriptor(
                                        Kind.PCI,
                                        permissions,
                                        0,
                                        0x10000,
                                        0,
                                        new byte[16],
                                        hash(),
                                        REGION,
                                        Side.HOST,
                                        "pf0"))
                .hasMessageContaining("access flag");
    }

    @Test
    void shouldNotShareItsArrays() {
        byte[] gid = gid();
        ExportDescriptor descriptor =
                new ExportDescriptor(
                        Kind.RDMA,
                        AccessBits.RDMA_READ,
                        1,
                        0x10000,
                        0,
                        gid,
                        hash(),
                        REGION,
                        Side.DPU,
                        "p0");
        gid[0] = 1;
        descriptor.gid()[1] = 1;
        descriptor.topologySha256()[0] = 0;
        assertThat(descriptor.gid()).isEqualTo(gid());
        assertThat(descriptor.topologySha256()).isEqualTo(hash());
    }
}
