package io.softdpu.rdma.roce.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Computation of the invariant CRC of packets between two addresses (InfiniBand Architecture
 * Specification, annex A17). It is the CRC-32 of 8 bytes of ones, the IP and UDP headers and the
 * packet up to its padding, with ones in the place of what may change on the way: type of service,
 * time to live and checksum of IPv4; traffic class, flow label and hop limit of IPv6; the UDP
 * checksum; the byte of the base transport header with FECN and BECN.
 *
 * <p>The masked headers are in a small array, of which a packet changes a few words. The IPv4
 * header has no options, and identification 0 and DF set unless {@link #setIdentification} changes
 * them; {@link #identification} finds the one that a received packet had.
 *
 * <p>Belongs to one thread; allocates nothing after its construction.
 */
public final class Icrc {
    /**
     * IPv4 identifications of the packets that softdpu sends are below this, and its receivers
     * expect no others of its ends: a system numbers the packets of one call from 0 on, and a
     * sender passes at most as many with one call. The ICRC of a packet is for its own.
     */
    public static final int SENT_IDENTIFICATIONS = 128;

    static final int UDP_BYTES = 8;

    private static final int ONES_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int IPV4_ADDRESS_BYTES = 4;
    private static final int IPV6_ADDRESS_BYTES = 16;

    // Offsets in the array, the IP header being at ONES_BYTES.
    private static final int IPV4_LENGTH = ONES_BYTES + 2;
    private static final int IPV4_IDENTIFICATION = ONES_BYTES + 4; // and DF
    private static final int IPV6_LENGTH = ONES_BYTES + 4;
    private static final int UDP_DESTINATION = 2;
    private static final int UDP_LENGTH = 4;

    private static final int DONT_FRAGMENT = 0x4000;

    /** Limit of the bytes of a packet that are copied: one small CRC costs less than two. */
    private static final int COPIED_BYTES = 256;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final CRC32 crc = new CRC32();
    private final boolean ipv4;
    private final int udpAt;
    private final int bthAt;
    private final byte[] masked; // and the first bytes of the packet
    private final MemorySegment words;
    private int packetBytes;
    private int identification;

    private Icrc(boolean ipv4) {
        this.ipv4 = ipv4;
        udpAt = ONES_BYTES + (ipv4 ? IPV4_BYTES : IPV6_BYTES);
        bthAt = udpAt + UDP_BYTES;
        masked = new byte[bthAt + COPIED_BYTES];
        words = MemorySegment.ofArray(masked);
        Arrays.fill(masked, 0, bthAt, (byte) 0xff);
        if (ipv4) {
            words.set(U32, ONES_BYTES, 0x45ff_0000); // version, header length; length
            words.set(U32, IPV4_IDENTIFICATION, DONT_FRAGMENT);
            words.set(U16, ONES_BYTES + 8, (short) 0xff11); // time to live; UDP
        } else {
            words.set(U32, ONES_BYTES, 0x6fff_ffff); // version
            words.set(U16, ONES_BYTES + 6, (short) 0x11ff); // UDP; hop limit
        }
        words.set(U16, udpAt + UDP_DESTINATION, (short) Headers.UDP_PORT);
    }

    /** For packets over IPv4, after {@link #setAddresses} and {@link #setSourcePort}. */
    public static Icrc ipv4() {
        return new Icrc(true);
    }

    /** For packets over IPv6, after {@link #setAddresses} and {@link #setSourcePort}. */
    public static Icrc ipv6() {
        return new Icrc(false);
    }

    /**
     * Sets the addresses of the IP header.
     *
     * @param source 4 bytes for IPv4, 16 for IPv6
     * @param destination as many
     * @throws IllegalArgumentException if they have another size
     */
    public void setAddresses(byte[] source, byte[] destination) {
        int bytes = ipv4 ? IPV4_ADDRESS_BYTES : IPV6_ADDRESS_BYTES;
        if (source.length != bytes || destination.length != bytes) {
            throw new IllegalArgumentException(
                    "addresses of another IP version: sourceBytes="
                            + source.length
                            + ", destinationBytes="
                            + destination.length
                            + ", expected="
                            + bytes);
        }
        System.arraycopy(source, 0, masked, udpAt - 2 * bytes, bytes);
        System.arraycopy(destination, 0, masked, udpAt - bytes, bytes);
    }

    /** Sets the destination port of the UDP header, that of RoCE v2 before. */
    public void setDestinationPort(int port) {
        words.set(U16, udpAt + UDP_DESTINATION, (short) port);
    }

    /** Sets the source port of the UDP header. */
    public void setSourcePort(int port) {
        words.set(U16, udpAt, (short) port);
    }

    /**
     * Sets what an IPv4 header has, where it is known; without effect on IPv6.
     *
     * @param number the identification, 0 to 65,535
     * @param dontFragment whether DF is set
     */
    public void setIdentification(int number, boolean dontFragment) {
        if (ipv4) {
            identification = number;
            words.set(U32, IPV4_IDENTIFICATION, number << 16 | (dontFragment ? DONT_FRAGMENT : 0));
        }
    }

    /**
     * Computes the ICRC of a packet, as {@link Headers#writeIcrc} writes it.
     *
     * @param view of the memory that has the packet, from its beginning on; its position and limit
     *     are changed. One that its owner keeps costs no allocation; one of memory of a shared
     *     arena costs two atomic operations per call.
     */
    public int of(Packet packet, ByteBuffer view) {
        return of(packet.memory(), view, packet.at(), packet.bytes());
    }

    /**
     * Computes the ICRC of a packet.
     *
     * @param memory has the packet
     * @param view as of the other form
     * @param at offset of the packet
     * @param wholeBytes size of the whole packet, with the ICRC
     */
    public int of(MemorySegment memory, ByteBuffer view, long at, int wholeBytes) {
        packetBytes = wholeBytes;
        int udpBytes = UDP_BYTES + wholeBytes;
        if (ipv4) {
            words.set(U16, IPV4_LENGTH, (short) (IPV4_BYTES + udpBytes));
        } else {
            words.set(U16, IPV6_LENGTH, (short) udpBytes);
        }
        words.set(U16, udpAt + UDP_LENGTH, (short) udpBytes);
        int covered = wholeBytes - Headers.ICRC_BYTES;
        int copied = covered <= COPIED_BYTES ? covered : Headers.BTH_BYTES;
        MemorySegment.copy(memory, at, words, bthAt, copied);
        masked[bthAt + (int) Headers.CONGESTION_OFFSET] = (byte) 0xff;
        crc.reset();
        crc.update(masked, 0, bthAt + copied);
        if (copied < covered) {
            crc.update(view.limit((int) at + covered).position((int) at + copied));
        }
        return value();
    }

    private int value() {
        return (int) crc.getValue();
    }

    /**
     * Identification of the IPv4 header by which the last packet has an ICRC. One of 65,536 changed
     * packets has one too, unless the caller expects a certain identification. Over IPv6, which has
     * none, the result is 0 for the right ICRC.
     *
     * @param received the ICRC of the packet
     * @return 0 to 65,535; -1 if there is none
     */
    public int identification(int received) {
        int icrcs = value() ^ received;
        if (icrcs == 0) {
            return identification;
        }
        int difference = ipv4 ? Identification.difference(icrcs, packetBytes) : Identification.NONE;
        return difference == Identification.NONE ? difference : identification ^ difference;
    }
}
