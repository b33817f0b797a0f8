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
import java.util.List;
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
            "53444d58 0003 02 01 00000006 deadbeef"
                    + "00007f1234560000"
                    + "00000000000000000000ffff7f030001"
                    + "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
                    + "0807060504030201 1817161514131211"
                    + "2827262524232221 3837363534333231"
                    + "4847464544434241 5857565554535251"
                    + "0700000000000000"
                    + "6867666564636261 7877767574737271"
                    + "0000010000000000"
                    + "02 7030 2f054dd8";

    private static byte[] gid() {
        return HexFormat.of().parseHex("00000000000000000000ffff7f030001");
    }

    private static byte[] digest() {
        byte[] digest = new byte[16];
        Arrays.fill(digest, (byte) 0xa5);
        return digest;
    }

    private static ExportDescriptor rdma() {
        return new ExportDescriptor(
                Kind.RDMA,
                AccessBits.RDMA_READ | AccessBits.RDMA_WRITE,
                0xdeadbeef,
                0x7f1234560000L,
                gid(),
                digest(),
                REGION,
                Side.DPU,
                "p0");
    }

    private static ExportDescriptor pci() {
        return new ExportDescriptor(
                Kind.PCI,
                AccessBits.LOCAL_READ_WRITE | AccessBits.PCI_READ_WRITE,
                0,
                0x7f1234560000L,
                new byte[16],
                digest(),
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
        assertThat(read.topologyDigest()).isEqualTo(digest());
        assertThat(read.region()).isEqualTo(REGION);
        assertThat(read.side()).isEqualTo(Side.DPU);
        assertThat(read.interfaceName()).isEqualTo("p0");
        assertThat(ExportDescriptor.decode(pci().encode())).isEqualTo(pci());
        assertThat(pci()).isNotEqualTo(rdma());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 00, magic",
        "6, 00, kind",
        "6, 03, kind",
        "7, 03, side",
        "8, 80, unknown access flags",
        "11, 00, permissions", // an RDMA export without RDMA rights
        "11, 16, permissions", // PCI rights in an RDMA export
        "11, 07, permissions", // local rights in an RDMA export
        "135, 80, sizeBytes", // negative
        "16, ff, address", // the range wraps; with the bytes below set to ff as well
        "136, 00, length of interface name",
        "136, 01, length of interface name",
        "136, 03, length of interface name",
        "136, 21, length of interface name",
        "136, ff, length of interface name",
        "137, 20, interface name",
        "137, ff, interface name",
        "12, 01, check",
        "23, 01, address", // no multiple of eight
        "22, 01, check",
        "40, 01, check",
        "142, 01, check"
    })
    void shouldRefuseAFieldThatIsNotLegal(int offset, String hexByte, String field) {
        byte[] bytes = golden();
        if (offset == 16) {
            Arrays.fill(bytes, 16, 24, (byte) 0xff);
        }
        bytes[offset] = HexFormat.of().parseHex(hexByte)[0];
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(bytes))
                .hasMessageContaining(field);
    }

    @Test
    void shouldRefuseAnotherVersionAsSuch() {
        byte[] ofVersion2 = Arrays.copyOf(golden(), 200); // its size
        ofVersion2[5] = 2;
        byte[] shorter = Arrays.copyOf(golden(), 6);
        shorter[5] = 4;
        for (byte[] bytes : List.of(ofVersion2, shorter)) {
            Thrown.with(Status.UNSUPPORTED_VERSION, () -> ExportDescriptor.decode(bytes))
                    .hasMessageContainingAll("version=" + bytes[5], "expected=3");
        }
    }

    @Test
    void shouldRefuseAnotherLength() {
        for (int length : new int[] {0, 1, 5, 6, 136, 137, 141, 174, 4096}) {
            Thrown.with(
                            Status.INVALID_VALUE,
                            () -> ExportDescriptor.decode(Arrays.copyOf(golden(), length)))
                    .hasMessageContaining("value=" + length);
        }
    }

    /** Beside one whose name is cut or longer. */
    @Test
    void shouldHaveTheSizeThatItsNameGives() {
        for (int length : new int[] {1, 2, 31, 32}) {
            ExportDescriptor named = named("n".repeat(length));
            byte[] blob = named.encode();
            assertThat(blob).hasSize(141 + length).hasSizeLessThanOrEqualTo(173);
            assertThat(ExportDescriptor.decode(blob)).isEqualTo(named);
            for (int other : new int[] {blob.length - 1, blob.length + 1}) {
                Thrown.with(
                        Status.INVALID_VALUE,
                        () -> ExportDescriptor.decode(Arrays.copyOf(blob, other)));
            }
        }
        Thrown.with(Status.INVALID_VALUE, () -> named(""));
        Thrown.with(Status.INVALID_VALUE, () -> named("n".repeat(33)));
    }

    private static ExportDescriptor named(String interfaceName) {
        return new ExportDescriptor(
                Kind.RDMA,
                AccessBits.RDMA_READ,
                1,
                0,
                gid(),
                digest(),
                REGION,
                Side.DPU,
                interfaceName);
    }

    @Test
    void shouldRefuseKeysWhereThereAreNone() {
        byte[] pci = pci().encode();
        pci[15] = 1;
        Thrown.with(Status.INVALID_VALUE, () -> ExportDescriptor.decode(pci));
        byte[] withGid = pci().encode();
        withGid[30] = 1;
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
                                        0,
                                        new byte[16],
                                        digest(),
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
                        0,
                        gid,
                        digest(),
                        REGION,
                        Side.DPU,
                        "p0");
        gid[0] = 1;
        descriptor.gid()[1] = 1;
        descriptor.topologyDigest()[0] = 0;
        assertThat(descriptor.gid()).isEqualTo(gid());
        assertThat(descriptor.topologyDigest()).isEqualTo(digest());
    }
}
