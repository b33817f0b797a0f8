package io.softdpu.rdma.roce.wire;

/**
 * Solver for the identification of an IPv4 header. The ICRC covers that field, and a UDP socket
 * does not show it. A CRC is linear: the difference between the ICRC that was received and the one
 * for another identification depends on the difference of the two identifications, and on the
 * number of bytes behind the field. Multiplied by the inverse of as many powers of x it is the 16
 * bits of that difference, or has other bits too if the packet was changed on its way.
 *
 * <p>Static, without allocation; any thread.
 */
final class Identification {
    /** No identification gives that ICRC. */
    static final int NONE = -1;

    /** The polynomial of CRC-32; as in all words here, the highest bit is the coefficient of 1. */
    private static final int POLYNOMIAL = 0xedb88320;

    private static final int ONE = 1 << 31;

    /** Bytes from the field to the end of an IPv4 header. */
    private static final int IP_BYTES = 16;

    private static final int LIMIT_BYTES = IP_BYTES + Icrc.UDP_BYTES + Headers.MAX_PACKET_BYTES;

    /** Inverses of x to the power of 32 per index. */
    private static final int[] INVERSES = new int[LIMIT_BYTES / Integer.BYTES];

    static {
        int inverse = ONE;
        for (int i = 0; i < INVERSES.length; i++) {
            INVERSES[i] = inverse;
            for (int bit = 0; bit < Integer.SIZE; bit++) {
                inverse = divideByX(inverse);
            }
        }
    }

    private Identification() {}

    private static int divideByX(int word) {
        return (word & ONE) == 0 ? word << 1 : (word ^ POLYNOMIAL) << 1 | 1;
    }

    private static int multiplyByX(int word) {
        return word >>> 1 ^ (POLYNOMIAL & -(word & 1));
    }

    private static int multiply(int one, int other) {
        int product = 0;
        int power = other;
        for (int bits = one; bits != 0; bits <<= 1) {
            product ^= power & (bits >> 31);
            power = multiplyByX(power);
        }
        return product;
    }

    /**
     * The difference of two identifications, as the bits in which they differ.
     *
     * @param icrcs bits in which the ICRCs differ
     * @param packetBytes size of the packet, with the ICRC
     * @return 0 to 65,535, or {@link #NONE}
     */
    static int difference(int icrcs, int packetBytes) {
        int behind = IP_BYTES + Icrc.UDP_BYTES + packetBytes - Headers.ICRC_BYTES;
        int bits = multiply(icrcs, INVERSES[behind / Integer.BYTES]);
        return bits >>> 16 == 0 ? Short.toUnsignedInt(Short.reverseBytes((short) bits)) : NONE;
    }
}
