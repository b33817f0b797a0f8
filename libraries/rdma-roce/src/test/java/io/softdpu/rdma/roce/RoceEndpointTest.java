package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.rdma.roce.nic.BareEndpoint;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

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
}
