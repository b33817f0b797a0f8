package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * ICRC of packets between an adapter and its peers, in one direction. Keeps the address of the last
 * peer, which most packets have again.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
final class PeerIcrc {
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final boolean ipv4;
    private final Icrc icrc;
    private final byte[] source;
    private final byte[] destination;
    private final MemorySegment peerWords;
    private long lastHigh;
    private long lastLow;

    private PeerIcrc(Gid own, boolean sent) {
        ipv4 = own.isIpv4();
        icrc = ipv4 ? Icrc.ipv4() : Icrc.ipv6();
        source = own.addressBytes();
        destination = own.addressBytes();
        peerWords = MemorySegment.ofArray(sent ? destination : source);
        lastHigh = own.high();
        lastLow = own.low();
        icrc.setAddresses(source, destination);
    }

    /** For packets from an adapter to peers with addresses of the same IP version. */
    static PeerIcrc ofSent(Gid own) {
        return new PeerIcrc(own, true);
    }

    /** For packets from such peers to an adapter. */
    static PeerIcrc ofReceived(Gid own) {
        return new PeerIcrc(own, false);
    }

    /** Whether the addresses are IPv4. */
    boolean isIpv4() {
        return ipv4;
    }

    /**
     * The computation for a packet.
     *
     * @param peerHigh address of the peer, as in {@link Gid}
     */
    Icrc with(long peerHigh, long peerLow, int sourcePort, int destinationPort) {
        if (peerLow != lastLow || peerHigh != lastHigh) {
            setPeer(peerHigh, peerLow);
        }
        icrc.setSourcePort(sourcePort);
        icrc.setDestinationPort(destinationPort);
        return icrc;
    }

    private void setPeer(long high, long low) {
        lastHigh = high;
        lastLow = low;
        if (ipv4) {
            peerWords.set(U32, 0, (int) low);
        } else {
            peerWords.set(U64, 0, high);
            peerWords.set(U64, Long.BYTES, low);
        }
        icrc.setAddresses(source, destination);
    }
}
