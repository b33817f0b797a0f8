package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Check of the ICRC of packets to one address. Over IPv4 the identification is solved for, and has
 * to be an expected one.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class IcrcCheck implements PacketCheck {
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final boolean ipv4;
    private final Icrc icrc;
    private final byte[] own;
    private final byte[] source;
    private final MemorySegment sourceWords;
    private long lastHigh;
    private long lastLow;

    /**
     * A check of packets to an address.
     *
     * @param own of the adapter; its peers have addresses of the same IP version
     */
    public IcrcCheck(Gid own) {
        ipv4 = own.isIpv4();
        icrc = ipv4 ? Icrc.ipv4() : Icrc.ipv6();
        this.own = own.addressBytes();
        source = own.addressBytes();
        sourceWords = MemorySegment.ofArray(source);
        lastHigh = own.high();
        lastLow = own.low();
        icrc.setAddresses(source, this.own);
    }

    @Override
    public boolean isIntact(
            Packet packet,
            ByteBuffer view,
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            int identifications) {
        if (Gid.isIpv4(sourceHigh, sourceLow) != ipv4) {
            return false;
        }
        if (sourceLow != lastLow || sourceHigh != lastHigh) {
            setSource(sourceHigh, sourceLow);
        }
        icrc.setSourcePort(sourcePort);
        icrc.of(packet, view);
        int identification = icrc.identification(packet.icrc());
        return identification >= 0 && identification < identifications;
    }

    private void setSource(long high, long low) {
        lastHigh = high;
        lastLow = low;
        if (ipv4) {
            sourceWords.set(U32, 0, (int) low);
        } else {
            sourceWords.set(U64, 0, high);
            sourceWords.set(U64, Long.BYTES, low);
        }
        icrc.setAddresses(source, own);
    }
}
