package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalNetworkTest {
    private static final UUID KERNEL = new UUID(1, 2);

    @ParameterizedTest
    @CsvSource({
        "127.1.2.3, 8, 127.4.5.6, 8, true",
        "10.1.2.3, 24, 10.1.2.200, 24, true",
        "10.1.2.3, 24, 10.1.3.3, 24, false",
        "10.1.2.3, 16, 10.1.3.3, 24, false", // in the subnet of one of them alone
        "10.1.2.3, 16, 10.1.3.3, 16, true",
        "10.1.2.3, 32, 10.1.2.3, 32, true",
        "127.1.2.3, 8, 10.1.2.3, 0, false",
        "fd00::1, 64, fd00::2, 64, true",
        "fd00::1, 64, fd01::2, 64, false",
        "fd00::1, 64, 10.1.2.3, 24, false",
        "fe80::1, 64, fe80::2, 64, false", // they name no interface
        "fd00::1, 0, fe80::2, 64, false",
        "::1, 128, ::1, 128, true",
        "::1, 128, 127.0.0.1, 8, false"
    })
    void shouldReachItsSubnetAndItsLoopback(
            String one, int oneLength, String other, int otherLength, boolean reached)
            throws UnknownHostException {
        LocalNetwork here = new LocalNetwork(gid(one), oneLength, KERNEL, 1);
        LocalNetwork there = new LocalNetwork(gid(other), otherLength, KERNEL, 1);

        assertThat(here.reaches(there)).isEqualTo(reached);
        assertThat(there.reaches(here)).as("symmetric").isEqualTo(reached);
    }

    @Test
    void shouldNotReachTheLoopbackOfAnotherNamespaceOrKernel() throws UnknownHostException {
        Gid loopback = gid("127.0.0.1");
        LocalNetwork own = new LocalNetwork(loopback, 8, KERNEL, 1);

        assertThat(own.reaches(new LocalNetwork(loopback, 8, KERNEL, 2))).isFalse();
        assertThat(own.reaches(new LocalNetwork(loopback, 8, new UUID(1, 3), 1))).isFalse();
    }

    @Test
    void shouldFindTheNetworkOfALoopbackAddress() throws UnknownHostException {
        LocalNetwork found = LocalNetwork.of(gid("127.3.0.1"));

        assertThat(found.prefixLength()).isEqualTo(8);
        assertThat(found.reaches(LocalNetwork.of(gid("127.65.0.1")))).isTrue();
    }

    /** Of an address nothing else is known. */
    @ParameterizedTest
    @CsvSource({
        "127.1.2.3, 8, 127.4.5.6, true",
        "127.1.2.3, 8, 10.1.2.3, false",
        "10.1.2.3, 24, 10.1.2.200, true",
        "10.1.2.3, 24, 10.1.3.3, false",
        "10.1.2.3, 24, 127.0.0.1, false",
        "10.1.2.3, 32, 10.1.2.3, true",
        "10.1.2.3, 0, fd00::1, false",
        "fd00::1, 64, fd00::2, true",
        "fd00::1, 64, fd01::1, false",
        "fd00::1, 0, fe80::1, false",
        "::1, 128, ::1, true",
        "::1, 128, ::2, false"
    })
    void shouldReachAddressesOfItsSubnetOrOfItsLoopback(
            String own, int length, String address, boolean reached) throws UnknownHostException {
        LocalNetwork here = new LocalNetwork(gid(own), length, KERNEL, 1);

        assertThat(here.reaches(gid(address))).isEqualTo(reached);
    }

    private static Gid gid(String address) throws UnknownHostException {
        return Gid.ofAddress(InetAddress.getByName(address).getAddress());
    }
}
