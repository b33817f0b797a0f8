package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.UdpSocket;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Effects of an impairment on packets, with a clock of the test, through real sockets. */
class ImpairedSinkTest {
    private static final Gid OWN = Gid.ofAddress(new byte[] {127, 99, 0, 4});
    private static final int PACKETS = 400;
    private static final int PACKET_BYTES = Opcode.SEND_ONLY.headerBytes() + 4;
    private static final long MILLI = 1_000_000;

    private final OutgoingPacket packet = new OutgoingPacket(1);
    private UdpSocket socket;
    private DatagramSocket receiver;
    private Gid from;
    private Gid to;
    private SocketSink sink;
    private ImpairedSink impaired;
    private long now;

    @BeforeEach
    void open() throws IOException {
        InetAddress address = InetAddress.getByAddress(OWN.addressBytes());
        socket = UdpSocket.open(new InetSocketAddress(address, 0));
        receiver = new DatagramSocket(new InetSocketAddress(address, 0));
        receiver.setReceiveBufferSize(1 << 20);
        receiver.setSoTimeout((int) Patience.LIMIT.toMillis());
        from = OWN.withPort(socket.localAddress().getPort());
        to = OWN.withPort(receiver.getLocalPort());
        sink = new SocketSink(socket, from, null, new SendFailures(0));
    }

    @AfterEach
    void close() {
        receiver.close();
        socket.close();
    }

    private void impair(String items) {
        impaired = new ImpairedSink(Impairment.parse("test", items), from, sink, () -> now);
    }

    private void send(int psn) {
        assertThat(impaired.isReady()).isTrue();
        packet.begin(to, 0, Opcode.SEND_ONLY, 0x4711, false, psn, 0);
        impaired.send(packet);
        sink.flush();
    }

    private long count(ImpairmentCounter counter) {
        return impaired.count(counter);
    }

    /** The next packets that have arrived. */
    private List<byte[]> received(long count) throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            DatagramPacket next = new DatagramPacket(new byte[PACKET_BYTES + 1], PACKET_BYTES + 1);
            receiver.receive(next);
            all.add(Arrays.copyOf(next.getData(), next.getLength()));
        }
        return all;
    }

    private static int psn(byte[] received) {
        return ByteBuffer.wrap(received).getInt(8) & 0xff_ffff;
    }

    /** Sends packets, and returns all that arrive, of which each is received before the next. */
    private List<byte[]> pass(String items) throws IOException {
        impair(items);
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < PACKETS; i++) {
            send(i);
        }
        impaired.releaseAll();
        sink.flush();
        assertThat(impaired.hasPackets()).isFalse();
        long lost = count(ImpairmentCounter.LOST) + count(ImpairmentCounter.PARTITIONED);
        all.addAll(received(PACKETS - lost + count(ImpairmentCounter.DUPLICATED)));
        return all;
    }

    @Test
    void shouldLoseAndDuplicateAsOftenAsItCounts() throws IOException {
        List<byte[]> received = pass("loss=0.2,dup=0.2,seed=7");

        assertThat(count(ImpairmentCounter.LOST)).isBetween(40L, 120L);
        assertThat(count(ImpairmentCounter.DUPLICATED)).isBetween(30L, 110L);
        assertThat(received.stream().map(ImpairedSinkTest::psn).distinct().count())
                .isEqualTo(PACKETS - count(ImpairmentCounter.LOST));
        assertThat(received.stream().map(ImpairedSinkTest::psn)).isSorted();
    }

    @Test
    void shouldDoTheSameWithTheSameSeedAlone() throws IOException {
        String items = "loss=0.1,dup=0.1,reorder=0.1,corrupt=0.1,seed=";

        List<byte[]> received = pass(items + "7");

        assertThat(pass(items + "7")).containsExactlyElementsOf(received);
        assertThat(pass(items + "8")).isNotEqualTo(received);
    }

    @Test
    void shouldChangeABitSoThatTheIcrcIsWrong() throws IOException {
        List<byte[]> received = pass("corrupt=0.3,seed=1");

        long wrong = received.stream().filter(each -> !isIntact(each)).count();
        assertThat(count(ImpairmentCounter.CORRUPTED)).isBetween(60L, 180L).isEqualTo(wrong);
    }

    private boolean isIntact(byte[] received) {
        Packet view = new Packet();
        if (view.wrap(MemorySegment.ofArray(received), 0, received.length) != null) {
            return false;
        }
        Icrc icrc = Icrc.ipv4();
        icrc.setAddresses(OWN.addressBytes(), OWN.addressBytes());
        icrc.setSourcePort(from.port());
        icrc.setDestinationPort(to.port());
        return icrc.of(view, ByteBuffer.wrap(received)) == view.icrc();
    }

    @Test
    void shouldSendAPacketBehindUpToThreeLaterOnes() throws IOException {
        List<Integer> received =
                pass("reorder=0.1,seed=1").stream().map(ImpairedSinkTest::psn).toList();

        assertThat(count(ImpairmentCounter.REORDERED)).isBetween(15L, 80L);
        long late = 0;
        for (int i = 0; i < PACKETS; i++) {
            int ahead = received.indexOf(i) - i;
            assertThat(ahead).as("place of packet " + i).isBetween(-1, 3);
            late += ahead > 0 ? 1 : 0;
        }
        assertThat(late)
                .isBetween(
                        count(ImpairmentCounter.REORDERED) - 1, count(ImpairmentCounter.REORDERED));
    }

    @Test
    void shouldSendAPacketThatIsHeldBackThoughNoneFollows() throws IOException {
        impair("reorder=1");
        send(5);
        assertThat(impaired.hasPackets()).isTrue();
        assertThat(impaired.nextNanos()).isEqualTo(MILLI);

        impaired.release(MILLI - 1);
        assertThat(impaired.hasPackets()).isTrue();
        impaired.release(MILLI);
        sink.flush();

        assertThat(impaired.hasPackets()).isFalse();
        assertThat(psn(received(1).getFirst())).isEqualTo(5);
    }

    @Test
    void shouldSendEachPacketLater() throws IOException {
        impair("delay=200us");
        send(1);
        now = 100_000;
        send(2);
        assertThat(impaired.nextNanos()).isEqualTo(200_000);

        impaired.release(200_000);
        sink.flush();
        assertThat(psn(received(1).getFirst())).isEqualTo(1);
        assertThat(impaired.nextNanos()).isEqualTo(300_000);
        impaired.release(299_999);
        assertThat(impaired.hasPackets()).isTrue();
        impaired.release(300_000);
        sink.flush();

        assertThat(psn(received(1).getFirst())).isEqualTo(2);
        assertThat(impaired.hasPackets()).isFalse();
        assertThat(count(ImpairmentCounter.DELAYED)).isEqualTo(2);
    }

    @Test
    void shouldHaveTheSenderWaitRatherThanGrow() throws IOException {
        impair("delay=1s,dup=1");
        int sent = 0;
        while (impaired.isReady()) {
            send(sent);
            sent++;
        }
        assertThat(2 * sent).isBetween(ImpairedSink.CAPACITY - 3, ImpairedSink.CAPACITY);

        impaired.release(1000 * MILLI);
        sink.flush();

        assertThat(received(2L * sent)).hasSize(2 * sent);
        assertThat(impaired.isReady()).isTrue();
    }

    @Test
    void shouldLoseAllPacketsOfAPartition() throws IOException {
        now = Long.MAX_VALUE - MILLI; // overflows meanwhile
        impair("partition=1ms-3ms");
        for (int i = 0; i < 5; i++) {
            send(i);
            now += MILLI;
        }

        assertThat(received(3).stream().map(ImpairedSinkTest::psn)).containsExactly(0, 3, 4);
        assertThat(count(ImpairmentCounter.PARTITIONED)).isEqualTo(2);
    }
}
