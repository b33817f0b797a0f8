package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Packet;
import java.nio.ByteBuffer;

/**
 * Check of the ICRC of packets to one address. Over IPv4 the identification is solved for, and has
 * to be an expected one.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class IcrcCheck implements PacketCheck {
    private final PeerIcrc icrc;
    private final int port;

    /**
     * A check of packets to an address.
     *
     * @param own of the adapter; its peers have addresses of the same IP version
     */
    public IcrcCheck(Gid own) {
        icrc = PeerIcrc.ofReceived(own);
        port = own.port();
    }

    @Override
    public boolean isIntact(
            Packet packet,
            ByteBuffer view,
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            int identifications) {
        if (Gid.isIpv4(sourceHigh, sourceLow) != icrc.isIpv4()) {
            return false;
        }
        Icrc computed = icrc.with(sourceHigh, sourceLow, sourcePort, port);
        computed.of(packet, view);
        int identification = computed.identification(packet.icrc());
        return identification >= 0 && identification < identifications;
    }
}
