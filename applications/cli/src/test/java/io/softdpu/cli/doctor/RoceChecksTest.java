package io.softdpu.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.doctor.Finding.Grade;
import io.softdpu.rdma.roce.RoceOptions;
import io.softdpu.rdma.roce.nic.AddressReport;
import io.softdpu.rdma.roce.nic.LocalInterface;
import io.softdpu.rdma.roce.wire.Gid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Findings of the doctor about the devices, for the provider roce. */
class RoceChecksTest {
    private static final Gid IPV4 = Gid.ofAddress(new byte[] {10, 1, 2, 3});
    private static final Gid IPV6 = new Gid(0xfd00L << 48, 1);
    private static final int BUFFER = 4 << 20;

    private static AddressReport present(Gid address, String holder, @Nullable LocalInterface own) {
        return new AddressReport(address, true, !holder.isEmpty(), holder, own, BUFFER, BUFFER);
    }

    private static AddressReport absent(Gid address) {
        return new AddressReport(address, false, false, "", null, 0, 0);
    }

    private static LocalInterface mtu(int bytes) {
        return new LocalInterface("eth0", bytes);
    }

    @Test
    void shouldReportAddressPortInterfaceAndBuffer() {
        Finding found =
                RoceChecks.device("RoCE host mlx5_0", present(IPV4, "", mtu(1500)), absent(IPV6));

        assertThat(found.grade()).isEqualTo(Grade.OK);
        assertThat(found.detail())
                .isEqualTo(
                        "ipv4=10.1.2.3, port=4791 free, interface=eth0,"
                                + " mtuBytes=1500, maxPathMtuBytes=1024,"
                                + " receiveBufferBytes=4194304, ipv6=fd00::1 (absent)");
    }

    @Test
    void shouldSayWhatFollowsWhereNoAddressIsPresent() {
        Finding found = RoceChecks.device("RoCE", absent(IPV4), absent(IPV6));

        assertThat(found.grade()).isEqualTo(Grade.WARNING);
        assertThat(found.detail()).isEqualTo("ipv4=10.1.2.3 (absent), ipv6=fd00::1 (absent)");
        assertThat(found.remedy()).startsWith("roce does not serve this device");
    }

    @Test
    void shouldNameTheHolderOfThePort() {
        Finding found =
                RoceChecks.device("RoCE", present(IPV4, "process 77", mtu(9000)), absent(IPV6));

        assertThat(found.grade()).isEqualTo(Grade.WARNING);
        assertThat(found.detail()).contains("port=4791 held by process 77,");
        assertThat(found.remedy()).contains("only by blobs");
    }

    @ParameterizedTest
    @CsvSource({
        "9000, 4096",
        "4168, 4096",
        "4167, 2048",
        "1500, 1024",
        "1280, 1024",
        "328, 256",
        "327, 0"
    })
    void shouldTellTheLargestPathMtuOfTheInterface(int mtu, int pathMtu) {
        Finding found = RoceChecks.device("RoCE", present(IPV4, "", mtu(mtu)), absent(IPV6));

        assertThat(found.detail()).contains("maxPathMtuBytes=" + pathMtu + ",");
        assertThat(found.grade()).isEqualTo(pathMtu == 0 ? Grade.WARNING : Grade.OK);
    }

    @Test
    void shouldTellThePathMtuByTheIpv6AddressWhereThatAloneIsPresent() {
        Finding found = RoceChecks.device("RoCE", absent(IPV4), present(IPV6, "", mtu(4187)));

        assertThat(found.detail())
                .startsWith("ipv4=10.1.2.3 (absent), ipv6=fd00::1, port=4791 free,")
                .contains("maxPathMtuBytes=2048,");
    }

    /**
     * The GID index selects one of them, and each has a port, an interface and limits of its own.
     */
    @Test
    void shouldReportBothAddressesOfADevice() {
        AddressReport free = present(IPV4, "", mtu(9000));
        AddressReport held = present(IPV6, "process 78", new LocalInterface("eth1", 1500));

        Finding found = RoceChecks.device("RoCE", free, held);
        assertThat(found.grade()).isEqualTo(Grade.WARNING);
        assertThat(found.detail())
                .containsSubsequence(
                        "ipv4=10.1.2.3, port=4791 free, interface=eth0, mtuBytes=9000,"
                                + " maxPathMtuBytes=4096,",
                        "ipv6=fd00::1, port=4791 held by process 78, interface=eth1,"
                                + " mtuBytes=1500, maxPathMtuBytes=1024,");
        assertThat(found.remedy()).contains("or by parameters at fd00::1, only by blobs");

        AddressReport small = present(IPV4, "", mtu(300));
        assertThat(RoceChecks.device("RoCE", small, held).remedy())
                .isEqualTo(
                        "roce does not serve 10.1.2.3: raise the MTU of its interface to 328 or"
                                + " more; "
                                + found.remedy());
        assertThat(RoceChecks.device("RoCE", free, present(IPV6, "", mtu(9000))).grade())
                .isEqualTo(Grade.OK);
    }

    @Test
    void shouldWarnOfSmallBuffers() {
        RoceOptions options = RoceOptions.defaults();
        AddressReport small = new AddressReport(IPV4, true, false, "", null, 212_992, BUFFER);

        Finding found = RoceChecks.buffers(small, options);
        assertThat(found.grade()).isEqualTo(Grade.WARNING);
        assertThat(found.detail())
                .isEqualTo("receiveBytes=212992, sendBytes=4194304, expected=4194304 and 4194304");
        assertThat(found.remedy()).contains("net.core.rmem_max=4194304");
        assertThat(RoceChecks.buffers(present(IPV4, "", null), options).grade())
                .isEqualTo(Grade.OK);
    }
}
