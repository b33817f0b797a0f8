package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.capture.CaptureWriter;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/**
 * Recorder of the packets of a NIC in a capture, to which other NICs may add theirs. What a socket
 * does not show of a received packet is its IPv4 identification: it is solved for, so that the ICRC
 * is right in the capture if it is.
 *
 * <p>Belongs to the owner of the NIC; any thread may {@link #flush}. Allocates nothing per packet.
 */
final class Recorder {
    private static final ValueLayout.OfInt LITTLE_U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle U32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final int MIN_PACKET_BYTES = Headers.BTH_BYTES + Headers.ICRC_BYTES;

    private final CaptureWriter capture;
    private final Gid own;
    private final byte[] ownAddress;
    private final byte[] source = new byte[Integer.BYTES]; // of each packet over IPv4
    private final Icrc icrc;

    Recorder(CaptureWriter capture, Gid own) {
        this.capture = capture;
        this.own = own;
        ownAddress = own.addressBytes();
        icrc = own.isIpv4() ? Icrc.ipv4() : Icrc.ipv6();
        icrc.setDestinationPort(own.port());
    }

    /** A packet is passed to the socket. */
    void sent(Gid to, MemorySegment memory, long at, int bytes) {
        if (capture.isClosed()) {
            return;
        }
        capture.add(
                own.high(),
                own.low(),
                own.port(),
                to.high(),
                to.low(),
                to.port(),
                0,
                memory,
                at,
                bytes);
    }

    /**
     * A datagram has come.
     *
     * @param view of the memory, from its beginning on; its position and limit change
     */
    void received(
            long high,
            long low,
            int port,
            MemorySegment memory,
            ByteBuffer view,
            long at,
            int bytes) {
        if (capture.isClosed()) {
            return;
        }
        capture.add(
                high,
                low,
                port,
                own.high(),
                own.low(),
                own.port(),
                identification(high, low, port, memory, view, at, bytes),
                memory,
                at,
                bytes);
    }

    private int identification(
            long high,
            long low,
            int port,
            MemorySegment memory,
            ByteBuffer view,
            long at,
            int bytes) {
        if (!own.isIpv4()
                || !Gid.isIpv4(high, low)
                || bytes < MIN_PACKET_BYTES
                || bytes > Headers.MAX_PACKET_BYTES
                || bytes % Integer.BYTES != 0) {
            return 0;
        }
        U32.set(source, 0, (int) low);
        icrc.setAddresses(source, ownAddress);
        icrc.setSourcePort(port);
        int computed = icrc.of(memory, view, at, bytes);
        int found = memory.get(LITTLE_U32, at + bytes - Headers.ICRC_BYTES);
        return computed == found ? 0 : Math.max(0, icrc.identification(found));
    }

    /** Adds the numbers of packets that are in the file, and that it lacks; of all NICs. */
    void count(Map<String, Long> into) {
        capture.flush();
        into.put("capture_written", capture.written());
        into.put("capture_lost", capture.lost());
    }

    /** Whether packets wait for a {@link #flush}, also those of other NICs. */
    boolean hasPackets() {
        return capture.hasPackets();
    }

    /** Writes what waits. */
    void flush() {
        capture.flush();
    }
}
