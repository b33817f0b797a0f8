package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Gid;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalInterfaceTest {
    /** Payload, headers of RoCE v2 and of UDP, and of IPv4 or IPv6. */
    @ParameterizedTest
    @CsvSource({
        "65536, true, 4096",
        "4168, true, 4096",
        "4167, true, 2048",
        "4188, false, 4096",
        "4187, false, 2048",
        "1500, true, 1024",
        "1500, false, 1024",
        "328, true, 256",
        "327, true, 0",
        "68, true, 0"
    })
    void shouldTakeThePathMtuWhosePacketsFit(int mtu, boolean ipv4, int pathMtu) {
        assertThat(new LocalInterface("eth0", mtu).maxPathMtuBytes(ipv4)).isEqualTo(pathMtu);
    }

    /** Payload of a UDP datagram: an IP header and 8 bytes less than the MTU fit. */
    @ParameterizedTest
    @CsvSource({
        "1500, true, 1472, false",
        "1500, true, 1473, true",
        "1500, false, 1452, false",
        "1500, false, 1453, true"
    })
    void shouldTellWhatItDoesNotTake(int mtu, boolean ipv4, int payload, boolean tooLong) {
        assertThat(new LocalInterface("eth0", mtu).isTooLong(payload, ipv4)).isEqualTo(tooLong);
    }

    @Test
    void shouldHaveALowestMtu() {
        assertThat(LocalInterface.minMtuBytes(true)).isEqualTo(328);
        assertThat(LocalInterface.minMtuBytes(false)).isEqualTo(348);
    }

    @Test
    void shouldFindTheLoopbackInterfaceForAllItsAddresses() {
        LocalInterface first = LocalInterface.of(Gid.ofAddress(new byte[] {127, 0, 0, 1}));
        LocalInterface other = LocalInterface.of(Gid.ofAddress(new byte[] {127, 9, 8, 7}));

        assertThat(other).isEqualTo(first);
        assertThat(Objects.requireNonNull(other).maxPathMtuBytes(true)).isEqualTo(4096);
    }

    @Test
    void shouldFindNothingForAnAddressOfNoInterface() {
        byte[] documentation = {(byte) 192, 0, 2, 1};

        assertThat(LocalInterface.of(Gid.ofAddress(documentation))).isNull();
    }
}
