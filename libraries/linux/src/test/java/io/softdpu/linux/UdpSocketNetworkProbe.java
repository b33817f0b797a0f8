package io.softdpu.linux;

import io.softdpu.testkit.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Program that prints what happens to datagrams in a network namespace with an interface (10.9.0.1,
 * fd00::1, MTU 1500, MTU of the route 1300) without a peer: nobody answers ARP.
 */
final class UdpSocketNetworkProbe {
    private static final int PORT = 4791;
    private static final int DATAGRAMS = 64;

    private UdpSocketNetworkProbe() {}

    public static void main(String[] arguments) throws Exception {
        InetAddress own = InetAddress.getByName("10.9.0.1");
        try (UdpSocket socket = UdpSocket.open(new InetSocketAddress(own, 0));
                UdpSocket receiver = UdpSocket.open(new InetSocketAddress(own, 0));
                Epoll epoll = new Epoll(1)) {
            OutgoingDatagrams batch = socket.newOutgoing(DATAGRAMS, 2000);
            fail(socket, batch, "192.0.2.1", 1);
            fail(socket, batch, "10.9.0.2", 1473);
            take(socket);

            // The path MTU of the route is not used.
            add(batch, "10.9.0.2", PORT, 1472);
            System.out.println("of 1472 bytes sent=" + socket.send(batch));

            // Nothing leaves until the peer's address is known.
            socket.setSendBuffer(1);
            for (int i = 0; i < DATAGRAMS; i++) {
                add(batch, "10.9.0.3", PORT, 1000);
            }
            int sent = socket.send(batch);
            System.out.println(
                    "partly sent="
                            + (sent > 0 && sent < DATAGRAMS)
                            + " waiting="
                            + (batch.waiting() == DATAGRAMS - sent)
                            + " errno="
                            + Errno.name(batch.errno()));
            batch.clear();

            // The kernel gives up, and reports each of them.
            epoll.add(socket.fd(), 0, 1);
            ReceivedErrors errors = socket.newErrors(1, 16);
            boolean otherSent = false;
            for (int unreachable = 0; unreachable < sent; ) {
                if (epoll.await((int) Patience.DEADLINE.toMillis()) == 0) {
                    throw new AssertionError("errors=" + unreachable + ", expected=" + sent);
                }
                if (!otherSent) {
                    add(batch, "10.9.0.1", receiver.localAddress().getPort(), 3);
                    System.out.println("to another sent=" + socket.send(batch));
                    otherSent = true;
                }
                socket.receiveErrors(errors);
                InetSocketAddress about =
                        MessageVector.address(
                                errors.destinationHigh(0),
                                errors.destinationLow(0),
                                errors.destinationPort(0));
                if (about.equals(address("10.9.0.3", PORT))
                        && errors.errno(0) == Errno.EHOSTUNREACH
                        && errors.origin(0) == ReceivedErrors.ORIGIN_ICMP) {
                    unreachable++;
                }
            }
            ReceivedDatagrams received = receiver.newReceived(4, 16);
            while (receiver.receive(received) == 0) {
                Thread.onSpinWait();
            }
            System.out.println("received=" + received.count() + " bytes=" + received.length(0));
        }
        InetAddress six = InetAddress.getByName("fd00::1");
        try (UdpSocket socket = UdpSocket.open(new InetSocketAddress(six, 0))) {
            OutgoingDatagrams batch = socket.newOutgoing(1, 2000);
            fail(socket, batch, "2001:db8::1", 1);
            fail(socket, batch, "fd00::2", 1453);
            take(socket);
        }
    }

    private static InetSocketAddress address(String host, int port) throws Exception {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    private static void add(OutgoingDatagrams batch, String host, int port, int length)
            throws Exception {
        InetAddress to = InetAddress.getByName(host);
        batch.add(MessageVector.high(to), MessageVector.low(to), port, length);
    }

    private static void fail(UdpSocket socket, OutgoingDatagrams batch, String host, int length)
            throws Exception {
        add(batch, host, PORT, length);
        int sent = socket.send(batch);
        System.out.println("sent=" + sent + " " + batch.failure().getMessage());
        batch.drop();
    }

    /** The kernel's own report of a datagram that was too large. */
    private static void take(UdpSocket socket) {
        ReceivedErrors errors = socket.newErrors(16, 16);
        socket.receiveErrors(errors);
        System.out.println(
                Errno.name(errors.errno(0))
                        + " local="
                        + (errors.origin(0) == ReceivedErrors.ORIGIN_LOCAL)
                        + " mtu="
                        + errors.info(0)
                        + " quoted="
                        + errors.length(0));
    }
}
