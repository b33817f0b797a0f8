package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * Network interface that has a local address, as it was when it was looked for. Immutable, without
 * I/O but for {@link #of}.
 *
 * @param mtuBytes limit of an IP packet
 */
public record LocalInterface(String name, int mtuBytes) {
    /** The lowest path MTU. */
    private static final int MIN_PATH_MTU_BYTES = 256;

    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int UDP_HEADER_BYTES = 8;
    private static final int LOOPBACK_NET = 127;

    /**
     * Looks for that of an address. The addresses in 127.0.0.0/8 are of the loopback interface.
     *
     * @return null if no interface has the address, or the system does not tell
     */
    public static @Nullable LocalInterface of(Gid address) {
        byte[] bytes = address.addressBytes();
        if (address.isIpv4() && bytes[0] == LOOPBACK_NET) {
            bytes = new byte[] {LOOPBACK_NET, 0, 0, 1};
        }
        try {
            NetworkInterface found =
                    NetworkInterface.getByInetAddress(InetAddress.getByAddress(bytes));
            return found == null ? null : new LocalInterface(found.getName(), found.getMTU());
        } catch (SocketException e) {
            return null; // it is a limit less; a packet that is too long counts as lost then
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("no address: gid=" + address, e);
        }
    }

    /**
     * The largest path MTU whose packets it takes, with the longest headers.
     *
     * @return bytes, a power of two up to {@link Headers#MAX_PAYLOAD_BYTES}; 0 if not even the
     *     lowest one fits
     */
    public int maxPathMtuBytes(boolean ipv4) {
        int room = mtuBytes - headerBytes(ipv4);
        return room < MIN_PATH_MTU_BYTES
                ? 0
                : Math.min(Integer.highestOneBit(room), Headers.MAX_PAYLOAD_BYTES);
    }

    /** Whether it does not take a UDP datagram with a payload of this size. */
    boolean isTooLong(int payloadBytes, boolean ipv4) {
        return ipHeaderBytes(ipv4) + UDP_HEADER_BYTES + payloadBytes > mtuBytes;
    }

    /** The lowest MTU of an interface with which there can be connections. */
    public static int minMtuBytes(boolean ipv4) {
        return headerBytes(ipv4) + MIN_PATH_MTU_BYTES;
    }

    private static int headerBytes(boolean ipv4) {
        return ipHeaderBytes(ipv4)
                + UDP_HEADER_BYTES
                + Headers.MAX_HEADER_BYTES
                + Headers.ICRC_BYTES;
    }

    private static int ipHeaderBytes(boolean ipv4) {
        return ipv4 ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES;
    }
}
