package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forms of the address of a listener. */
class RdmaAddressTest {
    @ParameterizedTest
    @CsvSource({
        "IPV4, 127.3.0.1, 127.3.0.1:7",
        "IPV6, fe80::53:44ff:fe03:1, [fe80:0:0:0:53:44ff:fe03:1]:7",
        "GID, ::ffff:127.3.0.1, 127.3.0.1:7",
        "GID, 0:0:0:0:0:FFFF:7f03:0001, 127.3.0.1:7",
        "GID, fe80::53:44ff:fe03:1, [fe80:0:0:0:53:44ff:fe03:1]:7",
    })
    void shouldTakeEachForm(RdmaAddress.Type type, String text, String shown) {
        RdmaAddress address = RdmaAddress.of(type, text, 7);

        assertThat(address.type()).isEqualTo(type);
        assertThat(address.port()).isEqualTo(7);
        assertThat(address).hasToString(shown);
        assertThat(address).isEqualTo(new RdmaAddress(type, address.address(), 7));
    }

    @ParameterizedTest
    @CsvSource({
        "IPV4, localhost",
        "IPV4, 127.3.0.256",
        "IPV4, 127.3.1",
        "IPV4, ::1",
        "IPV4, ''",
        "IPV6, 127.3.0.1",
        "IPV6, ::ffff:127.3.0.1",
        "IPV6, fe80::1%lo",
        "IPV6, localhost",
        "GID, 127.3.0.1",
        "GID, fe80::1%lo",
        "GID, :",
        "GID, ''",
        "GID, 1:2:3",
        "GID, localhost",
        "GID, '[::1]'",
    })
    void shouldRefuseATextOfAnotherForm(RdmaAddress.Type type, String text) {
        assertInvalid(() -> RdmaAddress.of(type, text, 7));
    }

    @Test
    void shouldRefuseWhatDoesNotBelongTogether() throws Exception {
        InetAddress ipv4 = Inet4Address.ofLiteral("127.0.0.1");
        InetAddress ipv6 = Inet6Address.ofLiteral("::1");
        assertInvalid(() -> new RdmaAddress(RdmaAddress.Type.IPV4, ipv6, 7));
        assertInvalid(() -> new RdmaAddress(RdmaAddress.Type.IPV6, ipv4, 7));
        for (int port : new int[] {-1, 0, 65_536}) {
            assertInvalid(() -> new RdmaAddress(RdmaAddress.Type.IPV4, ipv4, port));
        }
        assertThat(new RdmaAddress(RdmaAddress.Type.GID, ipv4, 65_535).port()).isEqualTo(65_535);
    }

    private static void assertInvalid(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
    }
}
