package io.softdpu.rdma.roce.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.spi.PrivateData;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Encoder and decoder of {@link CmMessage}: a management datagram of 256 bytes, big-endian, the
 * payload of a datagram for queue pair 1 (InfiniBand Architecture Specification, volume 1, sections
 * 12.6 and 13.4.3).
 *
 * <pre>
 *  0 base version 1   1 class 7      2 class version 2   3 method 3
 *  4 status (2)       6 (2)          8 transaction id (8)
 * 16 attribute (2)   18 (2)         20 attribute modifier (4)
 * 24 the message, 232 bytes; its offsets are those of {@code docs/wire/roce.md}
 * </pre>
 *
 * <p>Reserved bits are written as 0, and ignored when read. Static; any thread. The memory is not
 * shared with a peer.
 */
public final class CmCodec {
    /** Size of a message. */
    public static final int MESSAGE_BYTES = 256;

    /** The queue pair of connection management. */
    public static final int QUEUE_PAIR = 1;

    /** The queue key of that queue pair. */
    public static final int QUEUE_KEY = 0x8001_0000;

    /** Limit of the additional reject information. */
    public static final int REJECT_INFORMATION_BYTES = 72;

    private static final int GID_BYTES = 16;

    private static final int MAD_HEADER = 0x0107_0203;
    private static final long TRANSACTION_OFFSET = 8;
    private static final long ATTRIBUTE_OFFSET = 16;
    private static final int DATA_OFFSET = 24;

    private static final long LOCAL_ID = DATA_OFFSET;
    private static final long REMOTE_ID = DATA_OFFSET + 4;

    private static final long REQ_SERVICE_ID = DATA_OFFSET + 8;
    private static final long REQ_CA_GUID = DATA_OFFSET + 16;
    private static final long REQ_QUEUE_KEY = DATA_OFFSET + 28;
    private static final long REQ_QUEUE_PAIR = DATA_OFFSET + 32; // and responder resources
    private static final long REQ_DEPTH = DATA_OFFSET + 39;
    private static final long REQ_REMOTE_TIMEOUT = DATA_OFFSET + 43; // transport, flow control
    private static final long REQ_PSN = DATA_OFFSET + 44;
    private static final long REQ_LOCAL_TIMEOUT = DATA_OFFSET + 47; // and retries
    private static final long REQ_PARTITION_KEY = DATA_OFFSET + 48;
    private static final long REQ_MTU = DATA_OFFSET + 50; // and RNR retries
    private static final long REQ_CM_RETRIES = DATA_OFFSET + 51; // shared receives, transport
    private static final long REQ_LOCAL_LID = DATA_OFFSET + 52;
    private static final long REQ_REMOTE_LID = DATA_OFFSET + 54;
    private static final long REQ_LOCAL_GID = DATA_OFFSET + 56;
    private static final long REQ_REMOTE_GID = DATA_OFFSET + 72;
    private static final long REQ_FLOW_LABEL = DATA_OFFSET + 88; // and packet rate
    private static final long REQ_TRAFFIC_CLASS = DATA_OFFSET + 92;
    private static final long REQ_HOP_LIMIT = DATA_OFFSET + 93;
    private static final long REQ_SERVICE_LEVEL = DATA_OFFSET + 94; // and subnet local
    private static final long REQ_ACK_TIMEOUT = DATA_OFFSET + 95;
    private static final long REQ_PRIVATE_DATA = DATA_OFFSET + 140;

    private static final long REP_QUEUE_KEY = DATA_OFFSET + 8;
    private static final long REP_QUEUE_PAIR = DATA_OFFSET + 12;
    private static final long REP_PSN = DATA_OFFSET + 20;
    private static final long REP_RESOURCES = DATA_OFFSET + 24;
    private static final long REP_DEPTH = DATA_OFFSET + 25;
    private static final long REP_ACK_DELAY = DATA_OFFSET + 26; // failover, flow control
    private static final long REP_RNR_RETRIES = DATA_OFFSET + 27; // and shared receives
    private static final long REP_CA_GUID = DATA_OFFSET + 28;
    private static final long REP_PRIVATE_DATA = DATA_OFFSET + 36;

    private static final long ABOUT = DATA_OFFSET + 8; // of MRA and REJ
    private static final long MRA_TIMEOUT = DATA_OFFSET + 9;
    private static final long MRA_PRIVATE_DATA = DATA_OFFSET + 10;
    private static final long REJ_INFORMATION_LENGTH = DATA_OFFSET + 9;
    private static final long REJ_REASON = DATA_OFFSET + 10;
    private static final long REJ_INFORMATION = DATA_OFFSET + 12;
    private static final long REJ_PRIVATE_DATA = DATA_OFFSET + 84;
    private static final long DREQ_QUEUE_PAIR = DATA_OFFSET + 8;
    private static final long DREQ_PRIVATE_DATA = DATA_OFFSET + 12;
    private static final long SHORT_PRIVATE_DATA = DATA_OFFSET + 8; // of RTU and DREP

    private static final int RELIABLE_CONNECTION = 0;
    private static final int MIN_MTU_CODE = 1;
    private static final int MAX_MTU_CODE = 5;

    private static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private CmCodec() {}

    /**
     * Size of the private data of a message; in a REQ the IP addressing header is part of it.
     *
     * @throws IllegalArgumentException if softdpu does not use the kind
     */
    public static int privateDataBytes(CmAttribute attribute) {
        return switch (attribute) {
            case REQ -> IpAddressing.WIRE_BYTES + PrivateData.CONNECT_BYTES;
            case MRA -> MESSAGE_BYTES - (int) MRA_PRIVATE_DATA;
            case REJ -> PrivateData.REJECT_BYTES;
            case REP -> PrivateData.ACCEPT_BYTES;
            case RTU, DREP -> MESSAGE_BYTES - (int) SHORT_PRIVATE_DATA;
            case DREQ -> MESSAGE_BYTES - (int) DREQ_PRIVATE_DATA;
            case SIDR_REQ, SIDR_REP, LAP, APR ->
                    throw new IllegalArgumentException(
                            "no message of softdpu: attribute="
                                    + attribute
                                    + ", expected=REQ to"
                                    + " DREP");
        };
    }

    /**
     * The kind of a message.
     *
     * @param at offset of its management datagram
     * @param bytes size of it
     * @return null if it is no message of connection management, of this version
     */
    public static @Nullable CmAttribute attribute(MemorySegment memory, long at, int bytes) {
        return bytes == MESSAGE_BYTES && memory.get(U32, at) == MAD_HEADER
                ? CmAttribute.of(u16(memory, at + ATTRIBUTE_OFFSET))
                : null;
    }

    /** The transaction id of a message whose {@link #attribute} is not null. */
    public static long transactionId(MemorySegment memory, long at) {
        return memory.get(U64, at + TRANSACTION_OFFSET);
    }

    /** The number that the sender of such a message has given to the connection. */
    public static int localId(MemorySegment memory, long at) {
        return memory.get(U32, at + LOCAL_ID);
    }

    /** The encoded form in an array of its own. Throws as the other form. */
    public static byte[] encode(CmMessage message) {
        byte[] bytes = new byte[MESSAGE_BYTES];
        encode(message, MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    /**
     * Writes all 256 bytes of a message.
     *
     * @throws IllegalArgumentException if its private data or reject information is too long
     */
    public static void encode(CmMessage message, MemorySegment memory, long at) {
        MemorySegment m = memory.asSlice(at, MESSAGE_BYTES);
        m.fill((byte) 0);
        m.set(U32, 0, MAD_HEADER);
        m.set(U64, TRANSACTION_OFFSET, message.transactionId());
        m.set(U16, ATTRIBUTE_OFFSET, (short) message.attribute().code());
        m.set(U32, LOCAL_ID, message.localId());
        switch (message) {
            case CmMessage.Req req -> encodeReq(req, m);
            case CmMessage.Rep rep -> encodeRep(rep, m);
            case CmMessage.Rtu rtu -> m.set(U32, REMOTE_ID, rtu.remoteId());
            case CmMessage.Rej rej -> {
                m.set(U32, REMOTE_ID, rej.remoteId());
                m.set(U8, ABOUT, (byte) (rej.about().code() << 6));
                m.set(U8, REJ_INFORMATION_LENGTH, (byte) (rej.information().length << 1));
                m.set(U16, REJ_REASON, (short) rej.reason());
                put(
                        "reject information",
                        rej.information(),
                        m,
                        REJ_INFORMATION,
                        REJECT_INFORMATION_BYTES);
            }
            case CmMessage.Mra mra -> {
                m.set(U32, REMOTE_ID, mra.remoteId());
                m.set(U8, ABOUT, (byte) (mra.about().code() << 6));
                m.set(U8, MRA_TIMEOUT, (byte) (mra.serviceTimeout() << 3));
            }
            case CmMessage.Dreq dreq -> {
                m.set(U32, REMOTE_ID, dreq.remoteId());
                m.set(U32, DREQ_QUEUE_PAIR, dreq.remoteQueuePair() << 8);
            }
            case CmMessage.Drep drep -> m.set(U32, REMOTE_ID, drep.remoteId());
        }
        put(
                "private data",
                message.privateData(),
                m,
                privateDataOffset(message.attribute()),
                privateDataBytes(message.attribute()));
    }

    private static long privateDataOffset(CmAttribute attribute) {
        return switch (attribute) {
            case REQ -> REQ_PRIVATE_DATA;
            case MRA -> MRA_PRIVATE_DATA;
            case REJ -> REJ_PRIVATE_DATA;
            case REP -> REP_PRIVATE_DATA;
            case DREQ -> DREQ_PRIVATE_DATA;
            default -> SHORT_PRIVATE_DATA;
        };
    }

    private static void put(
            String what, byte[] bytes, MemorySegment message, long offset, int limit) {
        if (bytes.length > limit) {
            throw new IllegalArgumentException(
                    what + " is too long: sizeBytes=" + bytes.length + ", limit=" + limit);
        }
        MemorySegment.copy(bytes, 0, message, U8, offset, bytes.length);
    }

    private static void encodeReq(CmMessage.Req req, MemorySegment m) {
        m.set(U64, REQ_SERVICE_ID, req.serviceId());
        m.set(U64, REQ_CA_GUID, req.caGuid());
        m.set(U32, REQ_QUEUE_KEY, req.queueKey());
        m.set(U32, REQ_QUEUE_PAIR, req.queuePair() << 8 | (req.responderResources() & 0xff));
        m.set(U8, REQ_DEPTH, (byte) req.initiatorDepth());
        m.set(
                U8,
                REQ_REMOTE_TIMEOUT,
                (byte)
                        (req.remoteTimeout() << 3
                                | RELIABLE_CONNECTION << 1
                                | (req.flowControl() ? 1 : 0)));
        m.set(U32, REQ_PSN, req.startingPsn() << 8);
        m.set(U8, REQ_LOCAL_TIMEOUT, (byte) (req.localTimeout() << 3 | (req.retries() & 7)));
        m.set(U16, REQ_PARTITION_KEY, (short) req.partitionKey());
        m.set(U8, REQ_MTU, (byte) (req.pathMtu() << 4 | (req.rnrRetries() & 7)));
        m.set(
                U8,
                REQ_CM_RETRIES,
                (byte) (req.cmRetries() << 4 | (req.sharedReceives() ? 1 << 3 : 0)));
        CmMessage.Path path = req.path();
        m.set(U16, REQ_LOCAL_LID, (short) path.localLid());
        m.set(U16, REQ_REMOTE_LID, (short) path.remoteLid());
        put("local GID", path.localGid(), m, REQ_LOCAL_GID, GID_BYTES);
        put("remote GID", path.remoteGid(), m, REQ_REMOTE_GID, GID_BYTES);
        m.set(U32, REQ_FLOW_LABEL, path.flowLabel() << 12 | (path.packetRate() & 0x3f));
        m.set(U8, REQ_TRAFFIC_CLASS, (byte) path.trafficClass());
        m.set(U8, REQ_HOP_LIMIT, (byte) path.hopLimit());
        m.set(
                U8,
                REQ_SERVICE_LEVEL,
                (byte) (path.serviceLevel() << 4 | (path.subnetLocal() ? 1 << 3 : 0)));
        m.set(U8, REQ_ACK_TIMEOUT, (byte) (path.ackTimeout() << 3));
    }

    private static void encodeRep(CmMessage.Rep rep, MemorySegment m) {
        m.set(U32, REMOTE_ID, rep.remoteId());
        m.set(U32, REP_QUEUE_KEY, rep.queueKey());
        m.set(U32, REP_QUEUE_PAIR, rep.queuePair() << 8);
        m.set(U32, REP_PSN, rep.startingPsn() << 8);
        m.set(U8, REP_RESOURCES, (byte) rep.responderResources());
        m.set(U8, REP_DEPTH, (byte) rep.initiatorDepth());
        m.set(
                U8,
                REP_ACK_DELAY,
                (byte)
                        (rep.ackDelay() << 3
                                | (rep.failover() & 3) << 1
                                | (rep.flowControl() ? 1 : 0)));
        m.set(
                U8,
                REP_RNR_RETRIES,
                (byte) (rep.rnrRetries() << 5 | (rep.sharedReceives() ? 1 << 4 : 0)));
        m.set(U64, REP_CA_GUID, rep.caGuid());
    }

    /**
     * Decodes an untrusted message.
     *
     * @param at offset of its management datagram
     * @param bytes size of it
     * @throws DpuException INVALID_VALUE naming the illegal field; NOT_SUPPORTED for a kind that
     *     softdpu does not use
     */
    public static CmMessage decode(MemorySegment memory, long at, int bytes) {
        if (bytes != MESSAGE_BYTES) {
            throw refused("sizeBytes", bytes, MESSAGE_BYTES);
        }
        MemorySegment m = memory.asSlice(at, MESSAGE_BYTES);
        int header = m.get(U32, 0);
        if (header != MAD_HEADER) {
            throw refused(
                    "management header",
                    "0x" + Integer.toHexString(header),
                    "0x" + Integer.toHexString(MAD_HEADER));
        }
        int code = u16(m, ATTRIBUTE_OFFSET);
        CmAttribute attribute = CmAttribute.of(code);
        if (attribute == null) {
            throw refused(
                    "attribute", code, CmAttribute.REQ.code() + " to " + CmAttribute.APR.code());
        }
        long transaction = m.get(U64, TRANSACTION_OFFSET);
        int local = m.get(U32, LOCAL_ID);
        int remote = m.get(U32, REMOTE_ID);
        return switch (attribute) {
            case REQ -> decodeReq(transaction, local, m);
            case REP -> decodeRep(transaction, local, remote, m);
            case RTU -> new CmMessage.Rtu(transaction, local, remote, privateData(attribute, m));
            case REJ -> decodeRej(transaction, local, remote, m);
            case MRA ->
                    new CmMessage.Mra(
                            transaction,
                            local,
                            remote,
                            about(m),
                            u8(m, MRA_TIMEOUT) >>> 3,
                            privateData(attribute, m));
            case DREQ ->
                    new CmMessage.Dreq(
                            transaction,
                            local,
                            remote,
                            m.get(U32, DREQ_QUEUE_PAIR) >>> 8,
                            privateData(attribute, m));
            case DREP -> new CmMessage.Drep(transaction, local, remote, privateData(attribute, m));
            case SIDR_REQ, SIDR_REP, LAP, APR ->
                    throw new DpuException(
                            Status.NOT_SUPPORTED,
                            "connection message is not supported: attribute="
                                    + attribute
                                    + ", expected=REQ to DREP");
        };
    }

    private static CmMessage.Req decodeReq(long transaction, int local, MemorySegment m) {
        int transport = u8(m, REQ_REMOTE_TIMEOUT) >>> 1 & 3;
        if (transport != RELIABLE_CONNECTION) {
            throw refused("transport", transport, RELIABLE_CONNECTION);
        }
        int mtu = u8(m, REQ_MTU) >>> 4;
        if (mtu < MIN_MTU_CODE || mtu > MAX_MTU_CODE) {
            throw refused("path MTU", mtu, MIN_MTU_CODE + " to " + MAX_MTU_CODE);
        }
        int extended = u8(m, REQ_CM_RETRIES) & 7;
        if (extended != 0) {
            throw refused("extended transport", extended, 0);
        }
        return new CmMessage.Req(
                transaction,
                local,
                m.get(U64, REQ_SERVICE_ID),
                m.get(U64, REQ_CA_GUID),
                m.get(U32, REQ_QUEUE_KEY),
                m.get(U32, REQ_QUEUE_PAIR) >>> 8,
                u8(m, REQ_QUEUE_PAIR + 3),
                u8(m, REQ_DEPTH),
                u8(m, REQ_REMOTE_TIMEOUT) >>> 3,
                (u8(m, REQ_REMOTE_TIMEOUT) & 1) != 0,
                m.get(U32, REQ_PSN) >>> 8,
                u8(m, REQ_LOCAL_TIMEOUT) >>> 3,
                u8(m, REQ_LOCAL_TIMEOUT) & 7,
                u16(m, REQ_PARTITION_KEY),
                mtu,
                u8(m, REQ_MTU) & 7,
                u8(m, REQ_CM_RETRIES) >>> 4,
                (u8(m, REQ_CM_RETRIES) & 1 << 3) != 0,
                new CmMessage.Path(
                        u16(m, REQ_LOCAL_LID),
                        u16(m, REQ_REMOTE_LID),
                        bytes(m, REQ_LOCAL_GID, GID_BYTES),
                        bytes(m, REQ_REMOTE_GID, GID_BYTES),
                        m.get(U32, REQ_FLOW_LABEL) >>> 12,
                        m.get(U32, REQ_FLOW_LABEL) & 0x3f,
                        u8(m, REQ_TRAFFIC_CLASS),
                        u8(m, REQ_HOP_LIMIT),
                        u8(m, REQ_SERVICE_LEVEL) >>> 4,
                        (u8(m, REQ_SERVICE_LEVEL) & 1 << 3) != 0,
                        u8(m, REQ_ACK_TIMEOUT) >>> 3),
                privateData(CmAttribute.REQ, m));
    }

    private static CmMessage.Rep decodeRep(
            long transaction, int local, int remote, MemorySegment m) {
        return new CmMessage.Rep(
                transaction,
                local,
                remote,
                m.get(U32, REP_QUEUE_KEY),
                m.get(U32, REP_QUEUE_PAIR) >>> 8,
                m.get(U32, REP_PSN) >>> 8,
                u8(m, REP_RESOURCES),
                u8(m, REP_DEPTH),
                u8(m, REP_ACK_DELAY) >>> 3,
                u8(m, REP_ACK_DELAY) >>> 1 & 3,
                (u8(m, REP_ACK_DELAY) & 1) != 0,
                u8(m, REP_RNR_RETRIES) >>> 5,
                (u8(m, REP_RNR_RETRIES) & 1 << 4) != 0,
                m.get(U64, REP_CA_GUID),
                privateData(CmAttribute.REP, m));
    }

    private static CmMessage.Rej decodeRej(
            long transaction, int local, int remote, MemorySegment m) {
        int length = u8(m, REJ_INFORMATION_LENGTH) >>> 1;
        if (length > REJECT_INFORMATION_BYTES) {
            throw refused("reject information length", length, "0 to " + REJECT_INFORMATION_BYTES);
        }
        return new CmMessage.Rej(
                transaction,
                local,
                remote,
                about(m),
                u16(m, REJ_REASON),
                bytes(m, REJ_INFORMATION, length),
                privateData(CmAttribute.REJ, m));
    }

    private static CmMessage.About about(MemorySegment m) {
        int code = u8(m, ABOUT) >>> 6;
        for (CmMessage.About about : CmMessage.About.values()) {
            if (about.code() == code) {
                return about;
            }
        }
        throw refused("message", code, "0 to 2");
    }

    private static byte[] privateData(CmAttribute attribute, MemorySegment m) {
        return bytes(m, privateDataOffset(attribute), privateDataBytes(attribute));
    }

    private static byte[] bytes(MemorySegment m, long offset, int length) {
        return m.asSlice(offset, length).toArray(U8);
    }

    private static int u8(MemorySegment m, long offset) {
        return Byte.toUnsignedInt(m.get(U8, offset));
    }

    private static int u16(MemorySegment m, long offset) {
        return Short.toUnsignedInt(m.get(U16, offset));
    }

    static DpuException refused(String field, Object found, Object expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "connection message refused: field="
                        + field
                        + ", value="
                        + found
                        + ", expected="
                        + expected);
    }
}
