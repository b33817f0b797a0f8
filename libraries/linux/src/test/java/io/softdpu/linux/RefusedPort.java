package io.softdpu.linux;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * UDP port that no other process can get and that refuses all datagrams: a socket is bound to it,
 * and connected to itself.
 */
final class RefusedPort {
    private static final int SOCK_DGRAM = 2;

    private RefusedPort() {}

    /** Holds a port until the descriptor, the caller's, is closed. */
    static int hold(InetAddress address) {
        int family =
                address instanceof Inet6Address
                        ? SocketAddresses.AF_INET6
                        : SocketAddresses.AF_INET;
        int fd = Socket.create(family, SOCK_DGRAM, "of UDP");
        TcpSocket.bind(fd, new InetSocketAddress(address, 0));
        int errno = TcpSocket.connect(fd, TcpSocket.localAddress(fd));
        if (errno != 0) {
            throw new LinuxException("connect", errno, "fd=" + fd + ", address=" + address);
        }
        return fd;
    }
}
