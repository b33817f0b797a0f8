package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.Errno;
import io.softdpu.linux.OutgoingDatagrams;
import io.softdpu.linux.UdpSocket;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Sink that copies packets into a batch of datagrams, and sends that when it is full or {@linkplain
 * #flush flushed}. A datagram that the system refuses counts as lost. Belongs to the owner of the
 * NIC; allocates nothing after its construction.
 */
final class SocketSink implements PacketSink {
    private static final int CAPACITY = 64;
    private static final int QUEUE_PAIR_OFFSET = 4;

    private final UdpSocket socket;
    private final PacketWriter writer;
    private final OutgoingDatagrams batch;
    private final @Nullable Recorder recorder;
    private final SendFailures failures;
    private final MemorySegment memory;
    private final ByteBuffer view;
    private boolean blocked;
    private @Nullable TooLong tooLong;

    /**
     * Packet that the interface does not take.
     *
     * @param peer to which it was sent
     * @param queuePair of the peer
     * @param bytes of the payload of its UDP datagram
     */
    record TooLong(Gid peer, int queuePair, int bytes) {}

    /**
     * A sink without packets.
     *
     * @param recorder of the packets; null for none
     * @param failures to which it adds what the system refuses
     */
    SocketSink(UdpSocket socket, Gid own, @Nullable Recorder recorder, SendFailures failures) {
        this.failures = failures;
        this.socket = socket;
        this.recorder = recorder;
        writer = PacketWriter.ofSocket(own);
        batch = socket.newOutgoing(CAPACITY, Headers.MAX_PACKET_BYTES);
        memory = batch.memory();
        view = memory.asByteBuffer();
    }

    @Override
    public boolean isReady() {
        if (batch.isFull()) {
            flush();
        }
        return !blocked && !batch.isFull();
    }

    @Override
    public void send(OutgoingPacket packet) {
        add(writer.write(packet, memory, view, batch.next()), packet.destination());
    }

    /** Takes a packet that has its ICRC; only if it {@link #isReady}. */
    void send(MemorySegment from, long at, int bytes, Gid to) {
        MemorySegment.copy(from, at, memory, batch.next(), bytes);
        add(bytes, to);
    }

    /** Adds the packet that is in the next place. */
    private void add(int bytes, Gid to) {
        if (recorder != null) {
            recorder.sent(to, memory, batch.next(), bytes);
        }
        batch.add(to.high(), to.low(), to.port(), bytes);
    }

    /** Sends the packets that wait, as far as the socket takes them. */
    void flush() {
        while (batch.waiting() > 0) {
            int _ = socket.send(batch);
            if (batch.errno() == Errno.EAGAIN) {
                blocked = true;
                return;
            }
            if (batch.errno() != 0) {
                failures.add(
                        batch.firstHigh(),
                        batch.firstLow(),
                        batch.firstLength(),
                        batch.errno(),
                        System.nanoTime());
                if (batch.errno() == Errno.EMSGSIZE && tooLong == null) {
                    tooLong = firstWaiting();
                }
                batch.drop();
            }
        }
    }

    private TooLong firstWaiting() {
        InetSocketAddress to = batch.firstDestination();
        return new TooLong(
                Gid.ofAddress(to.getAddress().getAddress()).withPort(to.getPort()),
                memory.get(Headers.U32, batch.firstOffset() + QUEUE_PAIR_OFFSET)
                        & SequenceNumber.MAX,
                batch.firstLength());
    }

    /**
     * The first packet since the last call that the interface did not take, since its MTU has
     * become smaller; null if there is none.
     */
    @Nullable TooLong takeTooLong() {
        TooLong found = tooLong;
        tooLong = null;
        return found;
    }

    /** Whether the socket takes nothing until it is writable. */
    boolean isBlocked() {
        return blocked;
    }

    /** The socket is writable again. */
    void unblock() {
        blocked = false;
        flush();
    }
}
