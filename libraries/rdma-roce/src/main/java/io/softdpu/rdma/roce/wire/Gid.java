package io.softdpu.rdma.roce.wire;

import java.nio.ByteBuffer;

/**
 * Address of an adapter as 128 bits, as connection management names it. An IPv4 address is mapped
 * into IPv6 (::ffff:a.b.c.d).
 *
 * @param high the first eight bytes
 * @param low the last eight
 */
public record Gid(long high, long low) {
    /** Its size. */
    public static final int BYTES = 16;

    private static final int IPV4_BYTES = 4;
    private static final long MAPPED = 0xffffL << Integer.SIZE;
    private static final long IPV4_MASK = 0xffff_ffffL;

    /**
     * That of 16 bytes in the order of the network.
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

    /** Whether an IPv4 address is mapped into it. */
    public boolean isIpv4() {
        return isIpv4(high, low);
    }

    /** Whether an IPv4 address is mapped into an address of two words. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && (low & ~IPV4_MASK) == MAPPED;
    }

    /** Its 16 bytes in the order of the network. */
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /** The bytes of its IP address in the order of the network: 4, or 16. */
    public byte[] addressBytes() {
        return isIpv4() ? ByteBuffer.allocate(IPV4_BYTES).putInt((int) low).array() : bytes();
    }

    /** Its IP address. */
    @Override
    public String toString() {
        return Addresses.text(addressBytes());
    }
}
