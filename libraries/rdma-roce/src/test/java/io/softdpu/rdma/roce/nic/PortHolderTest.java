package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Name of the process that has the port of RoCE v2. */
class PortHolderTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 6});
    private static final String HEADER =
            "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid "
                    + " timeout inode ref pointer drops";

    @Test
    void shouldNameTheProcessThatHasThePort() throws IOException {
        assertThat(PortHolder.of(ADDRESS)).isEqualTo("unknown");

        InetAddress address = InetAddress.getByAddress(ADDRESS.addressBytes());
        try (DatagramSocket socket =
                new DatagramSocket(new InetSocketAddress(address, Headers.UDP_PORT))) {
            assertThat(socket.isBound()).isTrue();
            assertThat(PortHolder.of(ADDRESS))
                    .isEqualTo("process " + ProcessHandle.current().pid());
            assertThat(PortHolder.of(ADDRESS, 1)).as("after one process").isEqualTo("unknown");
        }
    }

    @Test
    void shouldWriteAnAddressAsTheKernelDoes() {
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        byte[] ipv6 = new byte[16];
        ipv6[0] = (byte) 0xfd;
        ipv6[15] = 1;

        assertThat(PortHolder.text(new byte[] {127, 99, 0, 6}))
                .isEqualTo(little ? "0600637F:12B7" : "7F630006:12B7");
        assertThat(PortHolder.text(ipv6))
                .isEqualTo(
                        little
                                ? "000000FD000000000000000001000000:12B7"
                                : "FD000000000000000000000000000001:12B7");
    }

    @Test
    void shouldFindTheSocketsOfThePortAmongAllLines() {
        List<String> lines =
                List.of(
                        HEADER,
                        " 12: 0600637F:12B7 00000000:0000 07 00000000:00000000 00:00000000"
                                + " 00000000     0        0 4711 2 0000000000000000 0",
                        " 13: 0600637F:12B8 00000000:0000 07 00000000:00000000 00:00000000"
                                + " 00000000     0        0 4712 2 0000000000000000 0",
                        " 14: 00000000:12B7 00000000:0000 07 00000000:00000000 00:00000000"
                                + " 00000000  1000        0 4713 2 0000000000000000 0",
                        "");

        Set<String> addresses = Set.of("0600637F:12B7", "00000000:12B7");
        Set<String> links = new HashSet<>();
        lines.forEach(line -> PortHolder.addLink(links, line, addresses));

        assertThat(links).containsExactlyInAnyOrder("socket:[4711]", "socket:[4713]");
    }
}
