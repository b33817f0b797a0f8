package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.OutgoingDatagrams;
import io.softdpu.linux.UdpSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Loop of a NIC without its thread. */
class NicLoopTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 3});

    /** More than it may make without a look at the errors. */
    private static final int TURNS = 1000;

    /**
     * Its response timeout, code 20, and the lifetime of packets on the way and back, twice 1 s.
     */
    private static final long REPEAT_OF_LINUX_NANOS = (4096L << 20) + 2 * (4096L << 18);

    /** A program that accepts late, and machines whose clients start at once. */
    @Test
    void shouldHavePlacesForTheRequestsOfSeveralMachines() {
        int clients = 250;
        int others = 2 * clients;
        int left = NicLoop.CM_LIMITS.maxRequests() - others;
        assertThat(clients - 1).as("waiting of the third").isLessThan(left - (clients - 1));
    }

    @Test
    void shouldKeepARequestOfLinuxOfWhichOneRepeatIsLost() {
        assertThat(NicLoop.CM_LIMITS.requestWaitNanos()).isGreaterThan(2 * REPEAT_OF_LINUX_NANOS);
    }

    @Test
    void shouldTakeTheErrorsOfItsSocketWhileItIsNeverIdle(SeededRandom random) throws IOException {
        InetAddress address = InetAddress.getByAddress(ADDRESS.addressBytes());
        UdpSocket socket = UdpSocket.open(new InetSocketAddress(address, 0));
        Gid gid = ADDRESS.withPort(socket.localAddress().getPort());
        NicLoop loop = new NicLoop(gid, socket, NicOptions.DEFAULTS, random);
        loop.prepare();
        int[] events = new int[1];
        try (Poller watch = new Poller()) {
            Registration registration = watch.add(socket.fd(), 0, ready -> events[0] = ready);
            sendToNobody(socket, address);
            Await.until("an ICMP error", () -> hasError(watch, events));

            for (int turn = 0; turn < TURNS; turn++) {
                loop.post(() -> {});
                loop.turn();
            }

            assertThat(hasError(watch, events)).as("an error that was not taken").isFalse();
            assertThat(loop.failures()).isZero();
            assertThat(registration.remove()).isTrue();
        } finally {
            loop.close();
        }
    }

    private static boolean hasError(Poller watch, int[] events) {
        events[0] = 0;
        int _ = watch.poll(0);
        return (events[0] & Poller.ERR) != 0;
    }

    private static void sendToNobody(UdpSocket socket, InetAddress address) throws IOException {
        int port;
        try (DatagramSocket gone = new DatagramSocket(new InetSocketAddress(address, 0))) {
            port = gone.getLocalPort();
        }
        OutgoingDatagrams batch = socket.newOutgoing(1, 64);
        long _ = batch.next();
        batch.add(ADDRESS.high(), ADDRESS.low(), port, 64);
        assertThat(socket.send(batch)).isOne();
    }
}
