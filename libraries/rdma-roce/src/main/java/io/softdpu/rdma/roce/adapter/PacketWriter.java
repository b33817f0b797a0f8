package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writer of outgoing packets in one piece, as a datagram carries them: headers, payload, padding
 * and ICRC. Over IPv4 the ICRC is that of identification 0 with DF.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class PacketWriter {
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final boolean ipv4;
    private final Icrc icrc;
    private final byte[] own;
    private final byte[] destination;
    private final MemorySegment destinationWords;
    private Gid last;

    /**
     * A writer of packets from an address.
     *
     * @param own of the adapter; its peers have addresses of the same IP version
     */
    public PacketWriter(Gid own) {
        ipv4 = own.isIpv4();
        icrc = ipv4 ? Icrc.ipv4() : Icrc.ipv6();
        this.own = own.addressBytes();
        destination = own.addressBytes();
        destinationWords = MemorySegment.ofArray(destination);
        last = own;
        icrc.setAddresses(this.own, destination);
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
        if (!packet.destination().equals(last)) {
            setDestination(packet.destination());
        }
        icrc.setSourcePort(packet.sourcePort());
        Headers.writeIcrc(memory, end, icrc.of(memory, view, at, bytes));
        return bytes;
    }

    private void setDestination(Gid gid) {
        last = gid;
        if (ipv4) {
            destinationWords.set(U32, 0, (int) gid.low());
        } else {
            destinationWords.set(U64, 0, gid.high());
            destinationWords.set(U64, Long.BYTES, gid.low());
        }
        icrc.setAddresses(own, destination);
    }
}
