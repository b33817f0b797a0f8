package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Writer of outgoing packets in one piece, as a datagram carries them: headers, payload, padding
 * and ICRC. Over IPv4 the ICRC is that of identification 0 with DF.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class PacketWriter {
    private static final int OF_PACKET = 0;

    private final PeerIcrc icrc;
    private final int port;

    /**
     * A writer of packets from an address, each from its own port.
     *
     * @param own of the adapter; its peers have addresses of the same IP version
     */
    public PacketWriter(Gid own) {
        this(own, OF_PACKET);
    }

    private PacketWriter(Gid own, int port) {
        icrc = PeerIcrc.ofSent(own);
        this.port = port;
    }

    /**
     * A writer of packets that are sent from the adapter's own port, whatever they say.
     *
     * @param own as of the constructor
     */
    public static PacketWriter ofSocket(Gid own) {
        return new PacketWriter(own, own.port());
    }

    /**
     * Writes a packet.
     *
     * @param memory has {@link OutgoingPacket#bytes()} bytes at the offset
     * @param view of the memory, from its beginning on; its position and limit change
     * @return size of the packet
     */
    public int write(OutgoingPacket packet, MemorySegment memory, ByteBuffer view, long at) {
        int headerBytes = packet.headerBytes();
        MemorySegment.copy(packet.headers(), 0, memory, at, headerBytes);
        long end = at + headerBytes;
        for (int piece = 0; piece < packet.pieces(); piece++) {
            int bytes = packet.length(piece);
            MemorySegment.copy(packet.memory(piece), packet.offset(piece), memory, end, bytes);
            end += bytes;
        }
        for (int i = packet.paddingBytes(); i > 0; i--) {
            memory.set(ValueLayout.JAVA_BYTE, end, (byte) 0);
            end++;
        }
        int bytes = packet.bytes();
        Gid peer = packet.destination();
        int from = port == OF_PACKET ? packet.sourcePort() : port;
        int value =
                icrc.with(peer.high(), peer.low(), from, peer.port()).of(memory, view, at, bytes);
        Headers.writeIcrc(memory, end, value);
        return bytes;
    }
}
