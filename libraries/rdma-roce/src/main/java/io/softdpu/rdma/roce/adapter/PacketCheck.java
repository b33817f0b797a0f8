package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.wire.Packet;
import java.nio.ByteBuffer;

/** Check of received packets against changes on the way. */
public interface PacketCheck {
    /**
     * Whether a packet is as its sender has sent it.
     *
     * @param view of the packet's memory, from its beginning on; its position and limit change
     * @param sourceHigh address of the sender, as in {@link io.softdpu.rdma.roce.wire.Gid}
     * @param sourcePort UDP port of the sender
     * @param identifications the IPv4 identification is below this number
     */
    boolean isIntact(
            Packet packet,
            ByteBuffer view,
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            int identifications);
}
