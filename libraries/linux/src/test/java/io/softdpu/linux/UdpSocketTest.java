package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UdpSocketTest {
    private static final int SOON_MILLIS = (int) Patience.DEADLINE.toMillis();
    private static final String IPV4 = "127.0.0.1";
    private static final String IPV6 = "::1";

    private final OpenFiles files = new OpenFiles();
    private final Deque<UdpSocket> sockets = new ArrayDeque<>();

    @AfterEach
    void closeSockets() {
        sockets.forEach(UdpSocket::close);
        files.close();
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private UdpSocket open(String host) {
        InetAddress address = address(host);
        if (host.contains(":")) {
            assumeThat(isUsable(address)).as("the system has " + host).isTrue();
        }
        UdpSocket socket = UdpSocket.open(new InetSocketAddress(address, 0));
        sockets.push(socket);
        return socket;
    }

    /** Whether this machine has that address, as Java sees it. */
    private static boolean isUsable(InetAddress address) {
        try (DatagramSocket probe = new DatagramSocket(new InetSocketAddress(address, 0))) {
            return probe.isBound();
        } catch (SocketException e) {
            return false;
        }
    }

    /** An address that refuses datagrams. */
    private InetSocketAddress refusing(String host) {
        return SocketAddresses.local(files.own(RefusedPort.hold(address(host))));
    }

    private static void await(UdpSocket socket, int events) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(socket.fd(), events, 1);
            assertThat(epoll.await(SOON_MILLIS)).as("socket is ready").isEqualTo(1);
            assertThat(epoll.events(0) & events).as("events").isNotZero();
        }
    }

    private static void add(OutgoingDatagrams batch, InetSocketAddress to, byte[] payload) {
        MemorySegment.copy(
                payload, 0, batch.memory(), ValueLayout.JAVA_BYTE, batch.next(), payload.length);
        batch.add(
                MessageVector.high(to.getAddress()),
                MessageVector.low(to.getAddress()),
                to.getPort(),
                payload.length);
    }

    private static void add(OutgoingDatagrams batch, InetSocketAddress to, String payload) {
        add(batch, to, payload.getBytes(StandardCharsets.US_ASCII));
    }

    private static void addMarked(OutgoingDatagrams batch, InetSocketAddress to, int trafficClass) {
        batch.add(
                MessageVector.high(to.getAddress()),
                MessageVector.low(to.getAddress()),
                to.getPort(),
                0,
                trafficClass);
    }

    private static byte[] payload(MemorySegment memory, long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte[] payload(ReceivedDatagrams batch, int index) {
        return payload(batch.memory(), batch.offset(index), batch.length(index));
    }

    private static String text(ReceivedDatagrams batch, int index) {
        return new String(payload(batch, index), StandardCharsets.US_ASCII);
    }

    private static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed * 31 + i * 7);
        }
        return bytes;
    }

    private static InetSocketAddress source(ReceivedDatagrams batch, int index) {
        return MessageVector.address(
                batch.sourceHigh(index), batch.sourceLow(index), batch.sourcePort(index));
    }

    private static InetAddress local(ReceivedDatagrams batch, int index) {
        return MessageVector.address(batch.localHigh(index), batch.localLow(index), 0).getAddress();
    }

    /** Receives one datagram. */
    private static void receiveOne(UdpSocket socket, ReceivedDatagrams into) {
        await(socket, Epoll.IN);
        assertThat(socket.receive(into)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldSendAndReceiveBatches(String host) {
        UdpSocket sender = open(host);
        UdpSocket receiver = open(host);
        int[] lengths = {0, 1, 63, 64, 65, 1000, 4000};
        OutgoingDatagrams outgoing = sender.newOutgoing(lengths.length, 4000);
        ReceivedDatagrams received = receiver.newReceived(4, 4096);
        List<byte[]> sent = new ArrayList<>();
        List<byte[]> arrived = new ArrayList<>();

        for (int round = 0; round < 5; round++) {
            for (int length : lengths) {
                sent.add(pattern(sent.size(), length));
                add(outgoing, receiver.localAddress(), sent.getLast());
            }
            assertThat(outgoing.isFull()).isTrue();
            assertThat(sender.send(outgoing)).isEqualTo(lengths.length);
            assertThat(outgoing.errno()).isZero();
            assertThat(outgoing.waiting()).isZero();
            while (arrived.size() < sent.size()) {
                await(receiver, Epoll.IN);
                assertThat(receiver.receive(received)).isBetween(1, 4).isEqualTo(received.count());
                for (int i = 0; i < received.count(); i++) {
                    assertThat(source(received, i)).isEqualTo(sender.localAddress());
                    assertThat(local(received, i)).isEqualTo(address(host));
                    assertThat(received.isTruncated(i)).isFalse();
                    assertThat(received.trafficClass(i)).isZero();
                    arrived.add(payload(received, i));
                }
            }
        }

        assertThat(arrived).containsExactlyInAnyOrderElementsOf(sent);
        assertThat(receiver.receive(received)).isZero();
        assertThat(receiver.poll(received)).isZero();
        assertThat(received.count()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldCarryTheCongestionBitsOfEachDatagramAndOfTheSocket(String host) {
        UdpSocket sender = open(host);
        UdpSocket receiver = open(host);
        OutgoingDatagrams outgoing = sender.newOutgoing(8, 64);
        ReceivedDatagrams received = receiver.newReceived(1, 64);
        int[] classes = {
            UdpSocket.ECN_NOT_CAPABLE,
            UdpSocket.ECN_CAPABLE_0,
            UdpSocket.ECN_CAPABLE_1,
            UdpSocket.ECN_CONGESTED,
            0xb8 | UdpSocket.ECN_CAPABLE_0
        };

        for (int trafficClass : classes) {
            addMarked(outgoing, receiver.localAddress(), trafficClass);
            assertThat(sender.send(outgoing)).isEqualTo(1);
            receiveOne(receiver, received);
            assertThat(received.trafficClass(0)).isEqualTo(trafficClass);
            assertThat(received.isCongested(0)).isEqualTo(trafficClass == UdpSocket.ECN_CONGESTED);
        }

        sender.setTrafficClass(UdpSocket.ECN_CAPABLE_0);
        add(outgoing, receiver.localAddress(), "of the socket");
        assertThat(sender.send(outgoing)).isEqualTo(1);
        receiveOne(receiver, received);
        assertThat(received.trafficClass(0)).isEqualTo(UdpSocket.ECN_CAPABLE_0);
        addMarked(outgoing, receiver.localAddress(), UdpSocket.ECN_NOT_CAPABLE);
        assertThat(sender.send(outgoing)).isEqualTo(1);
        receiveOne(receiver, received);
        assertThat(received.trafficClass(0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldTellThatADatagramWasTruncated(String host) {
        UdpSocket sender = open(host);
        UdpSocket receiver = open(host);
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 1000);
        ReceivedDatagrams received = receiver.newReceived(2, 100);

        for (int length : new int[] {101, 100, 1000, 99}) {
            byte[] bytes = pattern(length, length);
            add(outgoing, receiver.localAddress(), bytes);
            assertThat(sender.send(outgoing)).isEqualTo(1);
            receiveOne(receiver, received);
            assertThat(received.isTruncated(0)).as("length=%d", length).isEqualTo(length > 100);
            assertThat(received.length(0)).isEqualTo(Math.min(length, 100));
            assertThat(bytes).startsWith(payload(received, 0));
        }
    }

    @Test
    void shouldTellTheLocalAddressOfADatagramOnTheWildcard() {
        UdpSocket sender = open(IPV4);
        UdpSocket receiver = open("0.0.0.0");
        OutgoingDatagrams outgoing = sender.newOutgoing(2, 16);
        ReceivedDatagrams received = receiver.newReceived(1, 16);

        for (String host : new String[] {"127.0.0.1", "127.0.0.2"}) {
            int port = receiver.localAddress().getPort();
            add(outgoing, new InetSocketAddress(address(host), port), host);
            assertThat(sender.send(outgoing)).isEqualTo(1);
            receiveOne(receiver, received);
            assertThat(local(received, 0)).isEqualTo(address(host));
        }
    }

    @Test
    void shouldTellTheLocalAddressOfADatagramOnTheWildcardOfIpv6AndTakeNoIpv4() {
        UdpSocket sender = open(IPV6);
        UdpSocket receiver = open("::");
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 16);
        ReceivedDatagrams received = receiver.newReceived(1, 16);
        int port = receiver.localAddress().getPort();

        add(outgoing, new InetSocketAddress(address(IPV6), port), "six");
        assertThat(sender.send(outgoing)).isEqualTo(1);
        receiveOne(receiver, received);
        assertThat(local(received, 0)).isEqualTo(address(IPV6));

        CallState state = CallState.current();
        assertThat(Socket.getOption(state, receiver.fd(), 41, 26, Integer.BYTES)).isZero();
        assertThat(state.scratch.get(Libc.INT, 0)).as("IPV6_V6ONLY").isEqualTo(1);
    }

    @Test
    void shouldReceiveDatagramsOfIpv6WithoutAChecksum() {
        UdpSocket sender = open(IPV6);
        UdpSocket receiver = open(IPV6);
        CallState state = CallState.current();
        state.scratch.set(Libc.INT, 0, 1);
        assertThat(Socket.setOption(state, sender.fd(), 17, 101, Integer.BYTES))
                .as("UDP_NO_CHECK6_TX")
                .isZero();
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 16);
        ReceivedDatagrams received = receiver.newReceived(1, 16);

        add(outgoing, receiver.localAddress(), "unchecked");
        assertThat(sender.send(outgoing)).isEqualTo(1);

        receiveOne(receiver, received);
        assertThat(text(received, 0)).isEqualTo("unchecked");
    }

    /** IP header of a datagram of IPv4, as a packet socket of the loopback interface sees it. */
    @Test
    void shouldForbidFragmentationAndSendIdentificationZeroOverIpv4() throws IOException {
        UdpSocket sender = open(IPV4);
        UdpSocket receiver = open(IPV4);
        int port = receiver.localAddress().getPort();
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 16);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment packet = arena.allocate(128);
            int capture = packetSocket();
            for (int found = 0; found < 3; ) {
                add(outgoing, receiver.localAddress(), "x");
                assertThat(sender.send(outgoing)).isEqualTo(1);
                // Others use the interface too, and may fill the socket's buffer.
                int length;
                while ((length = TcpSocket.read(capture, packet)) >= 0) {
                    if (length >= 28
                            && packet.get(ValueLayout.JAVA_BYTE, 9) == 17
                            && networkShort(packet, 16) == 0x7f00
                            && networkShort(packet, 18) == 1
                            && networkShort(packet, 22) == port) {
                        assertThat(networkShort(packet, 4)).as("identification").isZero();
                        assertThat(networkShort(packet, 6)).as("flags").isEqualTo(0x4000);
                        found++;
                    }
                }
                assertThat(length).isEqualTo(-Errno.EAGAIN);
            }
        }
    }

    private static int networkShort(MemorySegment packet, int offset) {
        return Short.toUnsignedInt(
                packet.get(
                        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), offset));
    }

    /** A socket that receives the IPv4 packets of the loopback interface (AF_PACKET). */
    private int packetSocket() throws IOException {
        int fd;
        try {
            fd = files.own(Socket.create(17, 2, "AF_PACKET"));
        } catch (LinuxException e) {
            assumeThat(e.errno()).as("may capture packets").isZero();
            throw e;
        }
        CallState state = CallState.current();
        state.scratch.asSlice(0, 20).fill((byte) 0);
        state.scratch.set(ValueLayout.JAVA_SHORT, 0, (short) 17);
        state.scratch.set(ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) 0x800);
        state.scratch.set(
                Libc.INT,
                4,
                Integer.parseInt(Files.readString(Path.of("/sys/class/net/lo/ifindex")).strip()));
        assertThat(Errno.name(Socket.bind(state, fd, 20))).isEqualTo(Errno.name(0));
        return fd;
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldTellWhichDatagramWasRefusedAndQuoteIt(String host) {
        boolean ipv6 = host.equals(IPV6);
        UdpSocket sender = open(host);
        InetSocketAddress refusing = refusing(host);
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 1000);
        ReceivedErrors errors = sender.newErrors(4, 1000);
        assertThat(sender.receiveErrors(errors)).isZero();
        byte[] bytes = pattern(3, 1000);

        add(outgoing, refusing, bytes);
        assertThat(sender.send(outgoing)).isEqualTo(1);
        await(sender, Epoll.ERR);

        assertThat(sender.receiveErrors(errors)).isEqualTo(1).isEqualTo(errors.count());
        assertThat(Errno.name(errors.errno(0))).isEqualTo("ECONNREFUSED");
        assertThat(errors.origin(0))
                .isEqualTo(ipv6 ? ReceivedErrors.ORIGIN_ICMP6 : ReceivedErrors.ORIGIN_ICMP);
        assertThat(errors.type(0)).isEqualTo(ipv6 ? 1 : 3);
        assertThat(errors.code(0)).isEqualTo(ipv6 ? 4 : 3);
        assertThat(errors.info(0)).isZero();
        assertThat(
                        MessageVector.address(
                                errors.destinationHigh(0),
                                errors.destinationLow(0),
                                errors.destinationPort(0)))
                .isEqualTo(refusing);
        assertThat(
                        MessageVector.address(errors.offenderHigh(0), errors.offenderLow(0), 0)
                                .getAddress())
                .isEqualTo(address(host));
        assertThat(errors.length(0)).isBetween(500, 1000);
        assertThat(errors.isTruncated(0)).isFalse();
        assertThat(bytes).startsWith(payload(errors.memory(), errors.offset(0), errors.length(0)));
        assertThat(sender.receiveErrors(errors)).isZero();
    }

    @Test
    void shouldCutWhatAnErrorQuotesToItsSlot() {
        UdpSocket sender = open(IPV4);
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 200);
        ReceivedErrors errors = sender.newErrors(1, 64);
        byte[] bytes = pattern(3, 200);
        add(outgoing, refusing(IPV4), bytes);
        assertThat(sender.send(outgoing)).isEqualTo(1);
        await(sender, Epoll.ERR);

        assertThat(sender.receiveErrors(errors)).isEqualTo(1);

        assertThat(errors.length(0)).isEqualTo(64);
        assertThat(errors.isTruncated(0)).isTrue();
        assertThat(bytes).startsWith(payload(errors.memory(), errors.offset(0), 64));
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldReportNoErrorOnceAllAreTakenEvenIfTheQueueHadNoRoom(String host) {
        UdpSocket socket = open(host);
        UdpSocket peer = open(host);
        socket.setReceiveBuffer(1);
        OutgoingDatagrams filling = peer.newOutgoing(64, 16);
        while (!filling.isFull()) {
            add(filling, socket.localAddress(), "fills");
        }
        assertThat(peer.send(filling)).isEqualTo(64);
        await(socket, Epoll.IN);
        OutgoingDatagrams outgoing = socket.newOutgoing(1, 16);
        add(outgoing, refusing(host), "refused");
        assertThat(socket.send(outgoing)).isEqualTo(1);
        await(socket, Epoll.ERR);

        assertThat(socket.receiveErrors(socket.newErrors(4, 16))).isBetween(0, 1);

        assertThat(Socket.isReady(CallState.current(), socket.fd(), 0))
                .as("has an error")
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldLoseNoDatagramAndSendNoneTwiceBecauseOfAnotherPeer(String host) {
        UdpSocket sender = open(host);
        UdpSocket receiver = open(host);
        InetSocketAddress refusing = refusing(host);
        OutgoingDatagrams outgoing = sender.newOutgoing(32, 16);
        ReceivedDatagrams received = receiver.newReceived(32, 16);
        ReceivedErrors errors = sender.newErrors(32, 16);
        List<String> sent = new ArrayList<>();
        List<String> arrived = new ArrayList<>();

        for (int round = 0; round < 20; round++) {
            while (!outgoing.isFull()) {
                // Each error may come before or after the next datagram is sent.
                add(outgoing, refusing, "refused");
                sent.add("d" + sent.size());
                add(outgoing, receiver.localAddress(), sent.getLast());
            }
            int count = outgoing.waiting();
            int done = 0;
            while (done < count) {
                done += sender.send(outgoing);
                assertThat(outgoing.errno()).isIn(0, Errno.EAGAIN);
            }
            await(sender, Epoll.ERR);
            // Sends with a pending error, and with half of the queue taken.
            sent.add("d" + sent.size());
            add(outgoing, receiver.localAddress(), sent.getLast());
            assertThat(sender.send(outgoing)).isEqualTo(1);
            sender.receiveErrors(errors);
            sent.add("d" + sent.size());
            add(outgoing, receiver.localAddress(), sent.getLast());
            assertThat(sender.send(outgoing)).isEqualTo(1);
            while (sender.receiveErrors(errors) > 0) {
                assertThat(errors.errno(0)).isEqualTo(Errno.ECONNREFUSED);
            }
            while (arrived.size() < sent.size()) {
                await(receiver, Epoll.IN);
                for (int i = 0, n = receiver.receive(received); i < n; i++) {
                    arrived.add(text(received, i));
                }
            }
        }
        add(outgoing, receiver.localAddress(), "last");
        assertThat(sender.send(outgoing)).isEqualTo(1);
        receiveOne(receiver, received);

        assertThat(text(received, 0)).isEqualTo("last");
        assertThat(arrived).containsExactlyInAnyOrderElementsOf(sent);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldSendWhileErrorsOfAnotherPeerCome(String host) throws InterruptedException {
        UdpSocket sender = open(host);
        UdpSocket receiver = open(host);
        InetSocketAddress refusing = refusing(host);
        OutgoingDatagrams outgoing = sender.newOutgoing(1, 16);
        ReceivedDatagrams received = receiver.newReceived(1, 16);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicInteger refused = new AtomicInteger();
        Thread other =
                Thread.ofPlatform()
                        .start(() -> {
                            OutgoingDatagrams own = sender.newOutgoing(1, 16);
                            ReceivedErrors errors = sender.newErrors(16, 16);
                            while (!ended.get()) {
                                if (!own.isFull()) {
                                    add(own, refusing, "refused");
                                }
                                sender.send(own);
                                refused.addAndGet(sender.receiveErrors(errors));
                            }
                        });

        try {
            for (int i = 0; i < 1000 || refused.get() < 1000; i++) {
                add(outgoing, receiver.localAddress(), "d" + i);
                while (sender.send(outgoing) == 0) {
                    assertThat(Errno.name(outgoing.errno())).isEqualTo("EAGAIN");
                }
                receiveOne(receiver, received);
                assertThat(text(received, 0)).isEqualTo("d" + i);
            }
        } finally {
            ended.set(true);
            other.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void shouldReceiveWhileAnErrorOfAPeerIsPending(String host) {
        UdpSocket socket = open(host);
        UdpSocket peer = open(host);
        OutgoingDatagrams toRefusing = socket.newOutgoing(1, 16);
        OutgoingDatagrams toSocket = peer.newOutgoing(1, 16);
        ReceivedDatagrams received = socket.newReceived(4, 16);
        InetSocketAddress refusing = refusing(host);

        for (boolean polling : new boolean[] {false, true}) {
            add(toSocket, socket.localAddress(), "hello");
            assertThat(peer.send(toSocket)).isEqualTo(1);
            await(socket, Epoll.IN);
            add(toRefusing, refusing, "refused");
            assertThat(socket.send(toRefusing)).isEqualTo(1);
            await(socket, Epoll.ERR);

            if (polling) {
                assertThat(socket.poll(received)).as("the error").isZero();
            }
            assertThat(polling ? socket.poll(received) : socket.receive(received)).isEqualTo(1);
            assertThat(text(received, 0)).isEqualTo("hello");
            assertThat(socket.receiveErrors(socket.newErrors(4, 16))).isEqualTo(1);
        }
    }

    @Test
    void shouldNameTheDestinationThatCannotBeReachedAndContinueBehindIt() {
        UdpSocket sender = open(IPV4);
        UdpSocket receiver = open(IPV4);
        OutgoingDatagrams outgoing = sender.newOutgoing(4, 66_000);
        ReceivedDatagrams received = receiver.newReceived(1, 16);
        // From a loopback address there is no way to another machine.
        InetSocketAddress foreign = new InetSocketAddress(address("192.0.2.1"), 4791);

        add(outgoing, receiver.localAddress(), "first");
        add(outgoing, foreign, "lost");
        add(outgoing, receiver.localAddress(), new byte[65_508]);
        add(outgoing, receiver.localAddress(), "last");

        assertThat(sender.send(outgoing)).isEqualTo(1);
        assertThat(outgoing.waiting()).isEqualTo(3);
        assertThat(outgoing.errno()).isIn(Errno.ENETUNREACH, Errno.EINVAL);
        assertThat(outgoing.failure())
                .hasMessage(
                        "sendmmsg failed: errno="
                                + outgoing.errno()
                                + " ("
                                + Errno.name(outgoing.errno())
                                + "), address=/192.0.2.1:4791, lengthBytes=4");
        assertThat(sender.send(outgoing)).as("sent without drop").isZero();

        outgoing.drop();
        assertThat(sender.send(outgoing)).isZero();
        assertThat(outgoing.failure())
                .hasMessage(
                        "sendmmsg failed: errno=90 (EMSGSIZE), address="
                                + receiver.localAddress()
                                + ", lengthBytes=65508");

        outgoing.drop();
        assertThat(sender.send(outgoing)).isEqualTo(1);
        assertThatThrownBy(outgoing::failure).hasMessage("no datagram has failed: waiting=0");
        receiveOne(receiver, received);
        assertThat(text(received, 0)).isEqualTo("first");
        receiveOne(receiver, received);
        assertThat(text(received, 0)).isEqualTo("last");
    }

    @Test
    void shouldNameTheAddressThatIsTakenOrForeign() {
        InetSocketAddress taken = open(IPV4).localAddress();

        assertThatThrownBy(() -> UdpSocket.open(taken))
                .isInstanceOf(LinuxException.class)
                .hasMessageStartingWith("bind failed: errno=98 (EADDRINUSE), fd=")
                .hasMessageEndingWith(", address=/127.0.0.1:" + taken.getPort());
        assertThatThrownBy(() -> UdpSocket.open(new InetSocketAddress(address("192.0.2.1"), 4791)))
                .hasMessageStartingWith("bind failed: errno=99 (EADDRNOTAVAIL), fd=")
                .hasMessageEndingWith(", address=/192.0.2.1:4791");
        assertThatThrownBy(() ->
                        UdpSocket.open(InetSocketAddress.createUnresolved("no.such.invalid", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address is unresolved: address=no.such.invalid");
    }

    @Test
    void shouldTellTheSizeOfBuffersThatTheKernelGrants() throws IOException {
        UdpSocket socket = open(IPV4);
        assertThat(socket.setReceiveBuffer(1 << 16))
                .isEqualTo(1 << 16)
                .isEqualTo(socket.receiveBufferBytes());
        assertThat(socket.setSendBuffer(1 << 16))
                .isEqualTo(1 << 16)
                .isEqualTo(socket.sendBufferBytes());
        assertThat(socket.setReceiveBuffer(1)).as("the kernel's minimum").isGreaterThan(1);

        int receiveLimit = limit("rmem_max");
        int sendLimit = limit("wmem_max");
        assertThat(socket.setReceiveBuffer(receiveLimit + (1 << 20)))
                .as("with privilege or without")
                .isIn(receiveLimit + (1 << 20), receiveLimit);
        assertThat(socket.setSendBuffer(sendLimit + (1 << 20)))
                .as("with privilege or without")
                .isIn(sendLimit + (1 << 20), sendLimit);
    }

    private static int limit(String name) throws IOException {
        return Integer.parseInt(Files.readString(Path.of("/proc/sys/net/core/" + name)).strip());
    }

    @Test
    void shouldMakeEverySocketNonBlockingAndCloseOnExec() {
        UdpSocket socket = open(IPV4);

        OpenFiles.assertCloseOnExec(socket.fd());
        OpenFiles.assertNonBlocking(socket.fd());
        assertThat(socket.receive(socket.newReceived(1, 1))).isZero();
    }

    @Test
    void shouldRefuseUseAfterClose() {
        UdpSocket socket = open(IPV4);
        OutgoingDatagrams outgoing = socket.newOutgoing(1, 16);
        ReceivedDatagrams received = socket.newReceived(1, 16);
        ReceivedErrors errors = socket.newErrors(1, 16);
        String closed = "socket closed: fd=" + socket.fd() + ", address=" + socket.localAddress();

        socket.close();
        socket.close();

        assertThatThrownBy(socket::fd).isInstanceOf(IllegalStateException.class).hasMessage(closed);
        assertThatThrownBy(() -> socket.send(outgoing)).hasMessage(closed);
        assertThatThrownBy(() -> socket.receive(received)).hasMessage(closed);
        assertThatThrownBy(() -> socket.poll(received)).hasMessage(closed);
        assertThatThrownBy(() -> socket.receiveErrors(errors)).hasMessage(closed);
        assertThatThrownBy(() -> socket.setTrafficClass(0)).hasMessage(closed);
        assertThatThrownBy(() -> socket.setReceiveBuffer(1)).hasMessage(closed);
        assertThatThrownBy(socket::sendBufferBytes).hasMessage(closed);
    }

    @Test
    void shouldRefuseDatagramsThatCannotBeSent() {
        UdpSocket socket = open(IPV4);
        OutgoingDatagrams outgoing = socket.newOutgoing(1, 16);
        InetSocketAddress six = new InetSocketAddress(address("2001:db8::1"), 4791);
        InetSocketAddress none = new InetSocketAddress(address(IPV4), 0);
        InetSocketAddress some = new InetSocketAddress(address(IPV4), 4791);

        assertThatThrownBy(() -> add(outgoing, six, "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "destination of a datagram: address=/[2001:db8:0:0:0:0:0:1]:4791,"
                                + " expected=an IPv4 address and a port from 1 to 65535");
        assertThatThrownBy(() -> add(outgoing, none, "x"))
                .hasMessageContaining("address=/127.0.0.1:0, expected=an IPv4 address and a port");
        long high = MessageVector.high(some.getAddress());
        long low = MessageVector.low(some.getAddress());
        assertThatThrownBy(() -> outgoing.add(high, low, 65_536, 1))
                .hasMessageContaining("address=/127.0.0.1:65536");
        assertThatThrownBy(() -> outgoing.add(high, low, 4791, 17))
                .hasMessage(
                        "length of a datagram: lengthBytes=17, limit=16, address=/127.0.0.1:4791");
        assertThatThrownBy(() -> outgoing.add(high, low, 4791, -1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> outgoing.add(high, low, 4791, 1, 256))
                .hasMessage("traffic class: trafficClass=256, expected=0 to 255");
        assertThatThrownBy(() -> socket.setTrafficClass(-1))
                .hasMessageContaining("trafficClass=-1, expected=0 to 255");
        assertThat(outgoing.waiting()).isZero();

        add(outgoing, some, "x");
        assertThatThrownBy(outgoing::next)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("batch of datagrams is full: capacity=1");
        assertThatThrownBy(() -> outgoing.add(high, low, 4791, 1))
                .isInstanceOf(IllegalStateException.class);
        outgoing.clear();
        assertThat(outgoing.waiting()).isZero();
        assertThat(socket.send(outgoing)).isZero();
    }

    @Test
    void shouldRefuseBatchesThatMakeNoSense() {
        UdpSocket socket = open(IPV4);
        ReceivedDatagrams received = socket.newReceived(1, 16);

        assertThatThrownBy(() -> socket.newOutgoing(0, 16))
                .hasMessage("number of datagrams: capacity=0, expected=1 to 1024");
        assertThatThrownBy(() -> socket.newReceived(1025, 16))
                .hasMessageContaining("capacity=1025");
        assertThatThrownBy(() -> socket.newErrors(1, 0))
                .hasMessage("maxBytes must be above 0: maxBytes=0");
        assertThatThrownBy(() -> received.length(0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> socket.setReceiveBuffer(0))
                .hasMessageContaining("size of a buffer must be above 0: sizeBytes=0");
        UdpSocket six = open(IPV6);
        assertThatThrownBy(() -> six.poll(received))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "batch is of a socket of the other family: family=IPv4, expected=IPv6,"
                                + " address="
                                + six.localAddress());
    }
}
