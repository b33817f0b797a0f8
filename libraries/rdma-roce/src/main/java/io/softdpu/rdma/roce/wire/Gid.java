package io.softdpu.rdma.roce.wire;

import java.nio.ByteBuffer;

/**
 * Address of an adapter: its IP address as 128 bits, as connection management names it, and its UDP
 * port. An IPv4 address is mapped into IPv6 (::ffff:a.b.c.d).
 *
 * <p>The port is that of RoCE v2, unless several adapters of softdpu share an address: the others
 * have ports from {@link #FIRST_OTHER_PORT} on, below {@link #FIRST_FLOW_PORT}, and send from them.
 *
 * @param high the first eight bytes
 * @param low the last eight
 * @param port 1 to 65,535
 */
public record Gid(long high, long low, int port) {
    /** Its size. */
    public static final int BYTES = 16;

    /** The first port of adapters at an address whose port of RoCE v2 is another's. */
    public static final int FIRST_OTHER_PORT = 0x8000;

    /**
     * The first source port by which senders mark a flow: it says nothing of the adapter, which
     * receives on the port of RoCE v2.
     */
    public static final int FIRST_FLOW_PORT = 0xc000;

    private static final int IPV4_BYTES = 4;
    private static final int LINK_LOCAL_SHIFT = Long.SIZE - 10;
    private static final long LINK_LOCAL = 0xfe80 >> 6;
    private static final long MAPPED = 0xffffL << Integer.SIZE;
    private static final long IPV4_MASK = 0xffff_ffffL;

    /** The adapter at an IP address that receives on the port of RoCE v2. */
    public Gid(long high, long low) {
        this(high, low, Headers.UDP_PORT);
    }

    /**
     * The adapter at an IP address that receives on the port of RoCE v2.
     *
     * @param bytes of the address in the order of the network: 4, or 16
     */
    public static Gid ofAddress(byte[] bytes) {
        return bytes.length == IPV4_BYTES
                ? new Gid(0, MAPPED | (ByteBuffer.wrap(bytes).getInt() & IPV4_MASK))
                : of(bytes);
    }

    /**
     * The adapter that has sent a packet.
     *
     * @param sourcePort UDP port of the packet
     */
    public static Gid ofSender(long high, long low, int sourcePort) {
        boolean other = sourcePort >= FIRST_OTHER_PORT && sourcePort < FIRST_FLOW_PORT;
        return other ? new Gid(high, low, sourcePort) : new Gid(high, low);
    }

    /**
     * That of 16 bytes in the order of the network, with the port of RoCE v2.
     *
     * @throws IllegalArgumentException if they are not 16
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "no GID: bytes=" + bytes.length + ", expected=" + BYTES);
        }
        ByteBuffer words = ByteBuffer.wrap(bytes);
        return new Gid(words.getLong(), words.getLong());
    }

    /** The adapter with another port at the same IP address. */
    public Gid withPort(int other) {
        return new Gid(high, low, other);
    }

    /** Whether it has the IP address of another. */
    public boolean hasAddressOf(Gid other) {
        return high == other.high && low == other.low;
    }

    /** Whether an IPv4 address is mapped into it. */
    public boolean isIpv4() {
        return isIpv4(high, low);
    }

    /** Whether an IPv4 address is mapped into an address of two words. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && (low & ~IPV4_MASK) == MAPPED;
    }

    /**
     * Whether it is a link-local address of IPv6, fe80::/10, which is one of several machines
     * unless an interface is named beside it.
     */
    public boolean isLinkLocal() {
        return high >>> LINK_LOCAL_SHIFT == LINK_LOCAL;
    }

    /** Its 16 bytes in the order of the network. */
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /** The bytes of its IP address in the order of the network: 4, or 16. */
    public byte[] addressBytes() {
        return isIpv4() ? ByteBuffer.allocate(IPV4_BYTES).putInt((int) low).array() : bytes();
    }

    /** Its IP address, and its port if that is not the usual one. */
    @Override
    public String toString() {
        String address = Addresses.text(addressBytes());
        return port == Headers.UDP_PORT ? address : address + " port " + port;
    }
}
