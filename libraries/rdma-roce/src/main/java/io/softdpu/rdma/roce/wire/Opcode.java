package io.softdpu.rdma.roce.wire;

import static io.softdpu.rdma.roce.wire.ExtensionHeader.AETH;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.ATOMIC_ACK_ETH;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.ATOMIC_ETH;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.DETH;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.IMMEDIATE;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.INVALIDATE;
import static io.softdpu.rdma.roce.wire.ExtensionHeader.RETH;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Opcode of a packet (InfiniBand Architecture Specification, volume 1, table 38): those of the
 * reliable connection, of datagrams, which connection management uses, and the congestion
 * notification of RoCE v2 (annex A17).
 */
// The offsets are an array by header, filled once: looked up for each packet.
@SuppressWarnings({"EnumOrdinal", "ImmutableEnumChecker"})
public enum Opcode {
    /** First packet of a send of several. */
    SEND_FIRST(0x00, Role.REQUEST, Position.FIRST, true),
    /** Packet in the middle of a send. */
    SEND_MIDDLE(0x01, Role.REQUEST, Position.MIDDLE, true),
    /** Last packet of a send. */
    SEND_LAST(0x02, Role.REQUEST, Position.LAST, true),
    /** Last packet of a send with an immediate. */
    SEND_LAST_IMMEDIATE(0x03, Role.REQUEST, Position.LAST, true, IMMEDIATE),
    /** Send of one packet. */
    SEND_ONLY(0x04, Role.REQUEST, Position.ONLY, true),
    /** Send of one packet with an immediate. */
    SEND_ONLY_IMMEDIATE(0x05, Role.REQUEST, Position.ONLY, true, IMMEDIATE),
    /** First packet of a write of several. */
    WRITE_FIRST(0x06, Role.REQUEST, Position.FIRST, true, RETH),
    /** Packet in the middle of a write. */
    WRITE_MIDDLE(0x07, Role.REQUEST, Position.MIDDLE, true),
    /** Last packet of a write. */
    WRITE_LAST(0x08, Role.REQUEST, Position.LAST, true),
    /** Last packet of a write with an immediate. */
    WRITE_LAST_IMMEDIATE(0x09, Role.REQUEST, Position.LAST, true, IMMEDIATE),
    /** Write of one packet. */
    WRITE_ONLY(0x0a, Role.REQUEST, Position.ONLY, true, RETH),
    /** Write of one packet with an immediate. */
    WRITE_ONLY_IMMEDIATE(0x0b, Role.REQUEST, Position.ONLY, true, RETH, IMMEDIATE),
    /** Request of a read. */
    READ_REQUEST(0x0c, Role.REQUEST, Position.ONLY, false, RETH),
    /** First packet of the data of a read of several. */
    READ_RESPONSE_FIRST(0x0d, Role.RESPONSE, Position.FIRST, true, AETH),
    /** Packet in the middle of the data of a read. */
    READ_RESPONSE_MIDDLE(0x0e, Role.RESPONSE, Position.MIDDLE, true),
    /** Last packet of the data of a read. */
    READ_RESPONSE_LAST(0x0f, Role.RESPONSE, Position.LAST, true, AETH),
    /** All data of a read. */
    READ_RESPONSE_ONLY(0x10, Role.RESPONSE, Position.ONLY, true, AETH),
    /** Acknowledgement, or one of the negative ones. */
    ACKNOWLEDGE(0x11, Role.RESPONSE, Position.ONLY, false, AETH),
    /** Acknowledgement of an atomic operation, with the value before it. */
    ATOMIC_ACKNOWLEDGE(0x12, Role.RESPONSE, Position.ONLY, false, AETH, ATOMIC_ACK_ETH),
    /** Request to compare and swap eight bytes. */
    COMPARE_SWAP(0x13, Role.REQUEST, Position.ONLY, false, ATOMIC_ETH),
    /** Request to add to eight bytes. */
    FETCH_ADD(0x14, Role.REQUEST, Position.ONLY, false, ATOMIC_ETH),
    /** Last packet of a send that invalidates a key. */
    SEND_LAST_INVALIDATE(0x16, Role.REQUEST, Position.LAST, true, INVALIDATE),
    /** Send of one packet that invalidates a key. */
    SEND_ONLY_INVALIDATE(0x17, Role.REQUEST, Position.ONLY, true, INVALIDATE),
    /** Datagram. */
    DATAGRAM(0x64, Role.DATAGRAM, Position.ONLY, true, DETH),
    /** Datagram with an immediate. */
    DATAGRAM_IMMEDIATE(0x65, Role.DATAGRAM, Position.ONLY, true, DETH, IMMEDIATE),
    /** Congestion notification: {@link Headers#NOTIFICATION_BYTES} reserved bytes follow. */
    CONGESTION_NOTIFICATION(0x81, Role.NOTIFICATION, Position.ONLY, false);

    /** Part that the sender of a packet has. */
    public enum Role {
        /** Request of a reliable connection. */
        REQUEST,
        /** Answer to requests of a reliable connection. */
        RESPONSE,
        /** Datagram without a connection. */
        DATAGRAM,
        /** Notification of the network. */
        NOTIFICATION
    }

    /** Position of a packet in its message. */
    public enum Position {
        /** The first of several. */
        FIRST,
        /** Neither the first nor the last. */
        MIDDLE,
        /** The last of several. */
        LAST,
        /** The only one. */
        ONLY
    }

    private static final int ABSENT = Integer.MIN_VALUE;
    private static final @Nullable Opcode[] BY_CODE = new @Nullable Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    private final int code;
    private final Role role;
    private final Position position;
    private final boolean payload;
    private final int[] offsets = new int[ExtensionHeader.values().length];
    private final int headerBytes;

    Opcode(int code, Role role, Position position, boolean payload, ExtensionHeader... headers) {
        this.code = code;
        this.role = role;
        this.position = position;
        this.payload = payload;
        Arrays.fill(offsets, ABSENT);
        int end = Headers.BTH_BYTES;
        for (ExtensionHeader header : headers) {
            offsets[header.ordinal()] = end;
            end += header.bytes();
        }
        headerBytes = role == Role.NOTIFICATION ? end + Headers.NOTIFICATION_BYTES : end;
    }

    /**
     * The opcode of a number.
     *
     * @param code 0 to 255
     * @return null if softdpu does not know it
     */
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code];
    }

    /** The number in packets. */
    public int code() {
        return code;
    }

    /** The part of its sender. */
    public Role role() {
        return role;
    }

    /** The position in the message. */
    public Position position() {
        return position;
    }

    /** Whether the packet begins a message. */
    public boolean isFirst() {
        return position == Position.FIRST || position == Position.ONLY;
    }

    /** Whether the packet ends a message. */
    public boolean isLast() {
        return position == Position.LAST || position == Position.ONLY;
    }

    /** Whether the packet may have a payload. */
    public boolean hasPayload() {
        return payload;
    }

    /** Bytes of all headers, from the base transport header to the payload. */
    public int headerBytes() {
        return headerBytes;
    }

    /** Whether the packet has a header. */
    public boolean has(ExtensionHeader header) {
        return offsets[header.ordinal()] != ABSENT;
    }

    /**
     * Offset of a header from the beginning of the base transport header.
     *
     * @return bytes; far outside of any memory if the packet does not have it
     */
    public int offset(ExtensionHeader header) {
        return offsets[header.ordinal()];
    }
}
