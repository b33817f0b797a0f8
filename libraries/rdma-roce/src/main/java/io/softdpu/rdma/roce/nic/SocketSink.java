package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.Errno;
import io.softdpu.linux.OutgoingDatagrams;
import io.softdpu.linux.UdpSocket;
import io.softdpu.rdma.roce.adapter.PacketWriter;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Sink that copies packets into a batch of datagrams, and sends that when it is full or {@linkplain
 * #flush flushed}. A datagram that the system refuses counts as lost. Belongs to the owner of the
 * NIC; allocates nothing after its construction.
 */
final class SocketSink implements PacketSink {
    private static final int CAPACITY = 64;

    private final UdpSocket socket;
    private final PacketWriter writer;
    private final OutgoingDatagrams batch;
    private final @Nullable Recorder recorder;
    private final SendFailures failures;
    private final MemorySegment memory;
    private final ByteBuffer view;
    private boolean blocked;

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
                        batch.firstBytes(),
                        batch.errno(),
                        System.nanoTime());
                batch.drop();
            }
        }
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
