package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.PrivateData;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Payload of the handshake by which a connection by address is requested and answered.
 *
 * <pre>
 *  0  magic         u32  "SRCM"
 *  4  version       u16  1
 *  6  kind          u16  1 request, 2 accept, 3 reject
 *  8  permissions   u32  of peers, granted by the sender's instance; 0 in a reject
 * 12  data length   u32  bytes of private data: up to 56, 196, 148
 * 16  route         40 B in a request only
 *       0  source       16 B address of the sender's device, as a GID
 *      16  destination  16 B the address that it connects to, as a GID
 *      32  port         u16  1 to 65,535
 *      34  reserved     6 B  zero
 *     details      112 B of the sender's end, see {@link ShmDetails}; not in a reject
 *     private data      the last field
 * </pre>
 *
 * All little-endian; an IPv4 address is mapped into IPv6. Immutable, without I/O; any thread.
 *
 * @param route where a request is from and to; null in an answer
 * @param details of the sender's end; null in a reject
 * @param privateData of the sender's program; not modified
 */
@SuppressWarnings("ArrayRecordComponent") // package-private, never compared
record ConnectMessage(
        Kind kind,
        Permissions permissions,
        @Nullable Route route,
        @Nullable ShmDetails details,
        byte[] privateData) {
    static final int VERSION = 1;
    static final int HEADER_BYTES = 16;
    static final int ROUTE_BYTES = 40;

    /** Limit of the memory that goes with a message, which neither side reads. */
    static final long MAX_MEMORY_BYTES = 4096;

    private static final int MAGIC = 0x4d435253; // "SRCM" in memory order
    private static final int VERSION_OFFSET = 4;
    private static final int KIND_OFFSET = 6;
    private static final int PERMISSIONS_OFFSET = 8;
    private static final int LENGTH_OFFSET = 12;

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Kind of a message. */
    enum Kind {
        REQUEST(1, ROUTE_BYTES, ShmDetails.WIRE_BYTES, PrivateData.CONNECT_BYTES),
        ACCEPT(2, 0, ShmDetails.WIRE_BYTES, PrivateData.ACCEPT_BYTES),
        REJECT(3, 0, 0, PrivateData.REJECT_BYTES);

        /** The number in messages. */
        private final int code;

        private final int routeBytes;
        private final int detailsBytes;
        private final int maxDataBytes;

        Kind(int code, int routeBytes, int detailsBytes, int maxDataBytes) {
            this.code = code;
            this.routeBytes = routeBytes;
            this.detailsBytes = detailsBytes;
            this.maxDataBytes = maxDataBytes;
        }

        private static Kind ofCode(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw refused("kind", code, "1 to 3");
        }

        private int detailsOffset() {
            return HEADER_BYTES + routeBytes;
        }

        private int dataOffset() {
            return detailsOffset() + detailsBytes;
        }
    }

    /**
     * Origin and target of a request.
     *
     * @param source address of the sender's device, of the destination's family
     * @param destination the address that it connects to
     * @param port of the listener
     */
    record Route(InetAddress source, InetAddress destination, int port) {
        private static final int GID_BYTES = 16;
        private static final int PORT_OFFSET = 2 * GID_BYTES;
        private static final int RESERVED_OFFSET = PORT_OFFSET + Short.BYTES;

        /** Whether both are addresses of one family. */
        boolean isOfOneFamily() {
            return source instanceof Inet4Address == destination instanceof Inet4Address;
        }

        private void encode(MemorySegment bytes) {
            putAddress(bytes.asSlice(0, GID_BYTES), source);
            putAddress(bytes.asSlice(GID_BYTES, GID_BYTES), destination);
            bytes.set(U16, PORT_OFFSET, (short) port);
        }

        private static Route decode(MemorySegment bytes) {
            int port = Short.toUnsignedInt(bytes.get(U16, PORT_OFFSET));
            if (port == 0) {
                throw refused("port", port, "1 to 65535");
            }
            for (long at = RESERVED_OFFSET; at < ROUTE_BYTES; at++) {
                byte reserved = bytes.get(ValueLayout.JAVA_BYTE, at);
                if (reserved != 0) {
                    throw refused("reserved byte", reserved, "0");
                }
            }
            return new Route(
                    addressOf(bytes.asSlice(0, GID_BYTES)),
                    addressOf(bytes.asSlice(GID_BYTES, GID_BYTES)),
                    port);
        }

        private static void putAddress(MemorySegment gid, InetAddress address) {
            byte[] raw = address.getAddress();
            if (address instanceof Inet4Address) {
                gid.set(ValueLayout.JAVA_SHORT_UNALIGNED, 10, (short) 0xffff);
            }
            MemorySegment.copy(
                    raw, 0, gid, ValueLayout.JAVA_BYTE, (long) GID_BYTES - raw.length, raw.length);
        }

        private static InetAddress addressOf(MemorySegment gid) {
            try {
                return InetAddress.getByAddress(gid.toArray(ValueLayout.JAVA_BYTE));
            } catch (UnknownHostException e) {
                throw new IllegalStateException("16 bytes are an address", e);
            }
        }
    }

    /** A request. */
    static ConnectMessage request(
            Permissions permissions, Route route, ShmDetails details, byte[] privateData) {
        return new ConnectMessage(Kind.REQUEST, permissions, route, details, privateData);
    }

    /** An answer that accepts a request. */
    static ConnectMessage accept(Permissions permissions, ShmDetails details, byte[] privateData) {
        return new ConnectMessage(Kind.ACCEPT, permissions, null, details, privateData);
    }

    /** An answer of the listener's program that rejects a request. */
    static ConnectMessage reject(byte[] privateData) {
        return new ConnectMessage(
                Kind.REJECT, Permissions.LOCAL_READ_ONLY, null, null, privateData);
    }

    /** The route of a request. */
    Route requireRoute() {
        return Objects.requireNonNull(route, "of a request");
    }

    /** The details of a request or an accept. */
    ShmDetails requireDetails() {
        return Objects.requireNonNull(details, "of a request or an accept");
    }

    /** The encoded form in an array of its own. */
    byte[] encode() {
        byte[] array = new byte[kind.dataOffset() + privateData.length];
        MemorySegment bytes = MemorySegment.ofArray(array);
        bytes.set(U32, 0, MAGIC);
        bytes.set(U16, VERSION_OFFSET, (short) VERSION);
        bytes.set(U16, KIND_OFFSET, (short) kind.code);
        bytes.set(U32, PERMISSIONS_OFFSET, permissions.bits());
        bytes.set(U32, LENGTH_OFFSET, privateData.length);
        if (route != null) {
            route.encode(bytes.asSlice(HEADER_BYTES, ROUTE_BYTES));
        }
        if (details != null) {
            bytes.asSlice(kind.detailsOffset(), ShmDetails.WIRE_BYTES)
                    .copyFrom(MemorySegment.ofArray(details.encode()));
        }
        bytes.asSlice(kind.dataOffset()).copyFrom(MemorySegment.ofArray(privateData));
        return array;
    }

    /**
     * Decodes an untrusted request.
     *
     * @throws DpuException INVALID_VALUE naming the illegal field; UNSUPPORTED_VERSION for another
     *     version
     */
    static ConnectMessage decodeRequest(byte[] payload) {
        ConnectMessage message = decode(payload);
        if (message.kind != Kind.REQUEST) {
            throw refused("kind", message.kind, Kind.REQUEST);
        }
        return message;
    }

    /**
     * Decodes an untrusted answer, which accepts or rejects.
     *
     * @throws DpuException as {@link #decodeRequest}
     */
    static ConnectMessage decodeAnswer(byte[] payload) {
        ConnectMessage message = decode(payload);
        if (message.kind == Kind.REQUEST) {
            throw refused("kind", message.kind, Kind.ACCEPT + " or " + Kind.REJECT);
        }
        return message;
    }

    private static ConnectMessage decode(byte[] payload) {
        MemorySegment bytes = MemorySegment.ofArray(payload.clone());
        if (bytes.byteSize() < HEADER_BYTES) {
            throw refused("sizeBytes", bytes.byteSize(), "at least " + HEADER_BYTES);
        }
        int magic = bytes.get(U32, 0);
        if (magic != MAGIC) {
            throw refused("magic", Integer.toHexString(magic), Integer.toHexString(MAGIC));
        }
        int version = Short.toUnsignedInt(bytes.get(U16, VERSION_OFFSET));
        if (version != VERSION) {
            throw new DpuException(
                    Status.UNSUPPORTED_VERSION,
                    "RDMA connect message refused: version=" + version + ", expected=" + VERSION);
        }
        return decodeAs(Kind.ofCode(Short.toUnsignedInt(bytes.get(U16, KIND_OFFSET))), bytes);
    }

    private static ConnectMessage decodeAs(Kind kind, MemorySegment bytes) {
        int permissions = bytes.get(U32, PERMISSIONS_OFFSET);
        if (kind == Kind.REJECT && permissions != 0) {
            throw refused("permissions", permissions, 0);
        }
        int length = bytes.get(U32, LENGTH_OFFSET);
        if (length < 0 || length > kind.maxDataBytes) {
            throw refused("dataLengthBytes", length, "0 to " + kind.maxDataBytes);
        }
        if (bytes.byteSize() != kind.dataOffset() + length) {
            throw refused("sizeBytes", bytes.byteSize(), kind.dataOffset() + length);
        }
        return new ConnectMessage(
                kind,
                new Permissions(permissions),
                kind.routeBytes == 0
                        ? null
                        : Route.decode(bytes.asSlice(HEADER_BYTES, ROUTE_BYTES)),
                kind.detailsBytes == 0
                        ? null
                        : ShmDetails.decode(
                                bytes.asSlice(kind.detailsOffset(), ShmDetails.WIRE_BYTES)
                                        .toArray(ValueLayout.JAVA_BYTE)),
                bytes.asSlice(kind.dataOffset()).toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * Refuses more memory of a peer with its message than belongs to it: it would be mapped as long
     * as the message waits.
     *
     * @throws DpuException INVALID_VALUE
     */
    static void requireMemory(long sizeBytes) {
        if (sizeBytes > MAX_MEMORY_BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "memory of an RDMA connect message is too large: sizeBytes=%d,"
                                    + " limitBytes=%d",
                            sizeBytes, MAX_MEMORY_BYTES));
        }
    }

    private static DpuException refused(String field, Object found, Object expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "RDMA connect message refused: field=%s, value=%s, expected=%s",
                        field, found, expected));
    }
}
