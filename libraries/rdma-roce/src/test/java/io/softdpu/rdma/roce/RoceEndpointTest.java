package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.rdma.roce.cm.ConnectKey;
import io.softdpu.rdma.roce.nic.BareEndpoint;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.spi.RnrTimer;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoceEndpointTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 4});

    @Test
    void shouldReleaseItsNicIfItCannotBeOpened() throws IOException {
        RoceEndpoint endpoint = new RoceEndpoint(BareEndpoint.config(), null, ADDRESS);

        assertThatThrownBy(() -> endpoint.createConnection(this))
                .as("there is no device whose memory it could attach to")
                .isInstanceOf(NullPointerException.class);

        InetAddress address = InetAddress.getByAddress(ADDRESS.addressBytes());
        try (DatagramSocket socket =
                new DatagramSocket(new InetSocketAddress(address, Headers.UDP_PORT))) {
            assertThat(socket.isBound()).as("nobody has the port").isTrue();
        }
        endpoint.close();
    }

    /** Its device has addresses of both families, but the endpoint has one. */
    @ParameterizedTest
    @CsvSource({
        "127.99.0.4, 127.65.0.1, true",
        "127.99.0.4, ::1, false",
        "::1, ::1, true",
        "::1, 127.65.0.1, false"
    })
    void shouldReachPeersFromItsOwnAddress(String own, String peer, boolean reached)
            throws UnknownHostException {
        RoceEndpoint endpoint = new RoceEndpoint(BareEndpoint.config(), null, gid(own));
        Gid there = gid(peer);
        RoceDetails details =
                new RoceDetails(
                        there,
                        LocalNetwork.of(there),
                        2,
                        1024,
                        RnrTimer.LONGEST,
                        1 << 20,
                        new ConnectKey(1, 2),
                        0);

        assertThat(endpoint.reaches(details.encode())).isEqualTo(reached);
    }

    private static Gid gid(String address) throws UnknownHostException {
        return Gid.ofAddress(InetAddress.getByName(address).getAddress());
    }
}
