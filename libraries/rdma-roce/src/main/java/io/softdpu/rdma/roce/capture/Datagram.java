package io.softdpu.rdma.roce.capture;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * View of a frame as a UDP datagram for the port of RoCE v2, or one of another adapter of softdpu.
 * A frame is untrusted: each length is compared with what was captured before it is used.
 */
final class Datagram {
    /** Kinds of frames. */
    enum Kind {
        /** No datagram for these ports. */
        OTHER,
        /** A datagram for the port of RoCE v2, in one piece. */
        WHOLE,
        /** A datagram in one piece for a port that another adapter of softdpu may have. */
        OTHER_PORT,
        /** One of which the capture has a part, or whose lengths contradict each other. */
        CUT,
        /** A fragment of one. */
        FRAGMENT,
        /** One whose IPv4 header has options, which the ICRC does not cover. */
        OPTIONS
    }

    private static final int TAG_BYTES = 4;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int TYPE_VLAN = 0x8100;
    private static final int TYPE_SERVICE_VLAN = 0x88a8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP = 17;
    private static final int UDP_BYTES = 8;
    private static final int DONT_FRAGMENT = 0x4000;
    private static final int OFFSET = 0x1fff;
    private static final int OFFSET_OR_MORE = 0x3fff;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final byte[] bytes;
    private final MemorySegment frame;
    private boolean ipv4;
    private int identification;
    private boolean dontFragment;
    private byte[] source = {};
    private byte[] destination = {};
    private int sourcePort;
    private int destinationPort;
    private int payloadAt;
    private int payloadBytes;

    /** A view of an array, whose content may change before {@link #wrap}. */
    Datagram(byte[] bytes) {
        this.bytes = bytes;
        frame = MemorySegment.ofArray(bytes);
    }

    /**
     * Looks at a frame.
     *
     * @param captured bytes of the array that are its
     */
    Kind wrap(LinkType linkType, int captured) {
        if (linkType == LinkType.RAW_IP) {
            return captured > 0 && version(0) == 4 ? wrapIpv4(0, captured) : wrapIpv6(0, captured);
        }
        int at = linkType.headerBytes;
        int typeAt = linkType.typeAt;
        while (captured >= at) {
            switch (u16(typeAt)) {
                case TYPE_VLAN, TYPE_SERVICE_VLAN -> {
                    at += TAG_BYTES;
                    typeAt = at - Short.BYTES;
                }
                case TYPE_IPV4 -> {
                    return wrapIpv4(at, captured);
                }
                case TYPE_IPV6 -> {
                    return wrapIpv6(at, captured);
                }
                default -> {
                    return Kind.OTHER;
                }
            }
        }
        return Kind.OTHER;
    }

    private Kind wrapIpv4(int at, int captured) {
        if (captured - at < IPV4_BYTES || version(at) != 4 || bytes[at + 9] != UDP) {
            return Kind.OTHER;
        }
        int headerBytes = (bytes[at] & 0xf) * Integer.BYTES;
        if (headerBytes < IPV4_BYTES) {
            return Kind.OTHER;
        }
        ipv4 = true;
        int fragment = u16(at + 6);
        identification = u16(at + 4);
        dontFragment = (fragment & DONT_FRAGMENT) != 0;
        addresses(at + 12, 4);
        if ((fragment & OFFSET) != 0) {
            return Kind.OTHER; // not its first piece, which has the ports
        }
        Kind kind = wrapUdp(at + headerBytes, captured, at + u16(at + 2));
        boolean fragmented = (fragment & OFFSET_OR_MORE) != 0;
        boolean withOptions = headerBytes != IPV4_BYTES;
        if (kind == Kind.OTHER_PORT && (fragmented || withOptions)) {
            return Kind.OTHER;
        }
        if (kind == Kind.OTHER) {
            return kind;
        }
        if (fragmented) {
            return Kind.FRAGMENT;
        }
        return withOptions ? Kind.OPTIONS : kind;
    }

    private Kind wrapIpv6(int at, int captured) {
        if (captured - at < IPV6_BYTES || version(at) != 6 || bytes[at + 6] != UDP) {
            return Kind.OTHER;
        }
        ipv4 = false;
        identification = 0;
        dontFragment = true;
        addresses(at + 8, 16);
        return wrapUdp(at + IPV6_BYTES, captured, at + IPV6_BYTES + u16(at + 4));
    }

    private Kind wrapUdp(int at, int captured, int end) {
        if (captured - at < UDP_BYTES) {
            return Kind.OTHER;
        }
        sourcePort = u16(at);
        destinationPort = u16(at + 2);
        boolean usual = destinationPort == Headers.UDP_PORT;
        if (!usual
                && (destinationPort < Gid.FIRST_OTHER_PORT
                        || destinationPort >= Gid.FIRST_FLOW_PORT)) {
            return Kind.OTHER;
        }
        payloadAt = at + UDP_BYTES;
        payloadBytes = u16(at + 4) - UDP_BYTES;
        boolean whole = payloadBytes >= 0 && end <= captured && payloadAt + payloadBytes == end;
        if (!usual) {
            return whole ? Kind.OTHER_PORT : Kind.OTHER;
        }
        return whole ? Kind.WHOLE : Kind.CUT;
    }

    private void addresses(int at, int size) {
        source = Arrays.copyOfRange(bytes, at, at + size);
        destination = Arrays.copyOfRange(bytes, at + size, at + 2 * size);
    }

    private int version(int at) {
        return bytes[at] >> 4 & 0xf;
    }

    private int u16(int at) {
        return Short.toUnsignedInt(frame.get(U16, at));
    }

    /** Prepares the computation of the ICRC. */
    void setIn(Icrc icrc) {
        icrc.setAddresses(source, destination);
        icrc.setSourcePort(sourcePort);
        icrc.setDestinationPort(destinationPort);
        icrc.setIdentification(identification, dontFragment);
    }

    boolean isIpv4() {
        return ipv4;
    }

    /** The sender's address: 4 or 16 bytes. */
    byte[] source() {
        return source;
    }

    /** The receiver's address, as long. */
    byte[] destination() {
        return destination;
    }

    int sourcePort() {
        return sourcePort;
    }

    /** Offset of the packet in the frame. */
    int payloadAt() {
        return payloadAt;
    }

    int payloadBytes() {
        return payloadBytes;
    }
}
