package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.Errno;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.wire.Gid;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Packets that the system has refused to send, as for want of a route. They count as lost, so they
 * are repeated; a connection that ends since its peer does not answer names them.
 *
 * <p>Keeps the last addresses alone: any number of peers may be out of reach. Belongs to the owner
 * of the NIC; allocates nothing but texts.
 */
final class SendFailures {
    private static final int MAX_ADDRESSES = 16;

    /** Refusals for an address. */
    private static final class Entry {
        private long high;
        private long low;
        private int errno;
        private int bytes;
        private long packets;
        private long atNanos;
    }

    private final Entry[] entries = new Entry[MAX_ADDRESSES];
    private final long recentNanos;
    private long all;
    private long tooLong;
    private long unreachable;
    private long notPermitted;

    /**
     * None yet.
     *
     * @param recentNanos time for which one explains that a peer does not answer: longer than all
     *     between two repeats
     */
    SendFailures(long recentNanos) {
        this.recentNanos = recentNanos;
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new Entry();
        }
    }

    /** A packet to an address was refused. */
    void add(long high, long low, int bytes, int errno, long nowNanos) {
        all++;
        switch (errno) {
            case Errno.EMSGSIZE -> tooLong++;
            case Errno.ENETUNREACH, Errno.EHOSTUNREACH -> unreachable++;
            case Errno.EPERM, Errno.EACCES -> notPermitted++;
            default -> {} // in the sum alone
        }
        Entry of = find(high, low);
        if (of == null) {
            of = oldest();
            of.high = high;
            of.low = low;
            of.packets = 0;
        }
        of.errno = errno;
        of.bytes = bytes;
        of.packets++;
        of.atNanos = nowNanos;
    }

    private @Nullable Entry find(long high, long low) {
        for (Entry each : entries) {
            if (each.packets > 0 && each.low == low && each.high == high) {
                return each;
            }
        }
        return null;
    }

    private Entry oldest() {
        Entry oldest = entries[0];
        for (Entry each : entries) {
            if (each.packets == 0) {
                return each;
            }
            if (each.atNanos - oldest.atNanos < 0) {
                oldest = each;
            }
        }
        return oldest;
    }

    /** The last refusal for a peer, as a part of a message; empty without one in recent time. */
    String text(Gid peer, long nowNanos) {
        Entry of = find(peer.high(), peer.low());
        if (of == null || nowNanos - of.atNanos > recentNanos) {
            return "";
        }
        return Text.format(
                ", notSentTo=%s, errno=%d (%s), packets=%d, lastPacketBytes=%d",
                peer, of.errno, Errno.name(of.errno), of.packets, of.bytes);
    }

    /** Adds what was counted, by name. */
    void count(Map<String, Long> into) {
        into.put("nic_not_sent", all);
        into.put("nic_not_sent_too_long", tooLong);
        into.put("nic_not_sent_unreachable", unreachable);
        into.put("nic_not_sent_not_permitted", notPermitted);
    }
}
