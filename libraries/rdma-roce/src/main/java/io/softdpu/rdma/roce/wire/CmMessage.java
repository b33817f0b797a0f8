package io.softdpu.rdma.roce.wire;

/**
 * Message of connection management (InfiniBand Architecture Specification, volume 1, section 12.6).
 * Numbers of 24, 16, 8 and fewer bits are unsigned. Each message ends with private data, whose
 * length it does not state: decoded private data has the full length of its kind. Immutable but for
 * that array, which belongs to the message; any thread.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public sealed interface CmMessage {
    /** Number of the exchange in the management datagram. */
    long transactionId();

    /** Number that the sender has given to the connection. */
    int localId();

    /** Data of the sender's program, at most {@link CmCodec#privateDataBytes}. */
    byte[] privateData();

    /** The kind. */
    CmAttribute attribute();

    /** Message that an MRA or a REJ is about. */
    enum About {
        /** A REQ. */
        REQ(0),
        /** A REP. */
        REP(1),
        /** Another message; in an MRA a LAP. */
        OTHER(2);

        private final int code;

        About(int code) {
            this.code = code;
        }

        /** The number in messages: 2 bits. */
        int code() {
            return code;
        }
    }

    /**
     * Path of a connection, as the sender of a REQ sees it.
     *
     * @param localLid 16 bits, without meaning for RoCE
     * @param remoteLid 16 bits, as {@code localLid}
     * @param localGid 16 bytes, of the sender; an IPv4 address is mapped
     * @param remoteGid 16 bytes, of the receiver
     * @param flowLabel 20 bits
     * @param packetRate 6 bits
     * @param trafficClass 8 bits
     * @param hopLimit 8 bits
     * @param serviceLevel 4 bits
     * @param subnetLocal whether both are in one subnet
     * @param ackTimeout code of the time after which a packet is repeated: 4.096 µs x 2^code
     */
    record Path(
            int localLid,
            int remoteLid,
            byte[] localGid,
            byte[] remoteGid,
            int flowLabel,
            int packetRate,
            int trafficClass,
            int hopLimit,
            int serviceLevel,
            boolean subnetLocal,
            int ackTimeout) {}

    /**
     * Request of a reliable connection. An alternate path is not represented.
     *
     * @param serviceId of the listener
     * @param caGuid of the sender's adapter
     * @param queueKey of no use to a reliable connection
     * @param queuePair 24 bits, of the sender
     * @param responderResources reads and atomics that the sender takes at a time
     * @param initiatorDepth reads and atomics that the sender has under way at a time
     * @param remoteTimeout code of the time within which the receiver is to answer
     * @param flowControl whether the sender counts credits
     * @param startingPsn 24 bits, of the receiver's first packet: it begins with this
     * @param localTimeout code of the time within which the sender answers
     * @param retries repeats of a packet, 0 to 7
     * @param partitionKey 16 bits
     * @param pathMtu code: 1 for 256 bytes to 5 for 4,096
     * @param rnrRetries repeats of a packet without a receive, 0 to 7
     * @param cmRetries repeats of a connection message, 0 to 15
     * @param sharedReceives whether the sender has a shared receive queue
     */
    record Req(
            long transactionId,
            int localId,
            long serviceId,
            long caGuid,
            int queueKey,
            int queuePair,
            int responderResources,
            int initiatorDepth,
            int remoteTimeout,
            boolean flowControl,
            int startingPsn,
            int localTimeout,
            int retries,
            int partitionKey,
            int pathMtu,
            int rnrRetries,
            int cmRetries,
            boolean sharedReceives,
            Path path,
            byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.REQ;
        }
    }

    /**
     * Reply that accepts a request.
     *
     * @param remoteId that of the REQ
     * @param queueKey as in a REQ
     * @param queuePair 24 bits, of the sender
     * @param startingPsn 24 bits, of the receiver's first packet: it begins with this
     * @param responderResources as in a REQ
     * @param initiatorDepth as in a REQ
     * @param ackDelay code of the time within which the sender acknowledges
     * @param failover 2 bits, about the alternate path
     * @param flowControl as in a REQ
     * @param rnrRetries as in a REQ
     * @param sharedReceives as in a REQ
     * @param caGuid of the sender's adapter
     */
    record Rep(
            long transactionId,
            int localId,
            int remoteId,
            int queueKey,
            int queuePair,
            int startingPsn,
            int responderResources,
            int initiatorDepth,
            int ackDelay,
            int failover,
            boolean flowControl,
            int rnrRetries,
            boolean sharedReceives,
            long caGuid,
            byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.REP;
        }
    }

    /**
     * Ready to use: the requester has the reply.
     *
     * @param remoteId that of the REP
     */
    record Rtu(long transactionId, int localId, int remoteId, byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.RTU;
        }
    }

    /**
     * Rejection.
     *
     * @param remoteId the receiver's number; 0 if the sender does not know it
     * @param about the message that is rejected
     * @param reason as {@link RejectReason#CONSUMER}; any 16 bits
     * @param information additional reject information, at most {@link
     *     CmCodec#REJECT_INFORMATION_BYTES}
     */
    record Rej(
            long transactionId,
            int localId,
            int remoteId,
            About about,
            int reason,
            byte[] information,
            byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.REJ;
        }
    }

    /**
     * Receipt of a message whose answer needs more time.
     *
     * @param remoteId the receiver's number
     * @param about the message that has come
     * @param serviceTimeout code of that time
     */
    record Mra(
            long transactionId,
            int localId,
            int remoteId,
            About about,
            int serviceTimeout,
            byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.MRA;
        }
    }

    /**
     * Request of the end of a connection.
     *
     * @param remoteId the receiver's number
     * @param remoteQueuePair 24 bits, of the receiver
     */
    record Dreq(
            long transactionId, int localId, int remoteId, int remoteQueuePair, byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.DREQ;
        }
    }

    /**
     * Reply to the request of an end.
     *
     * @param remoteId the receiver's number
     */
    record Drep(long transactionId, int localId, int remoteId, byte[] privateData)
            implements CmMessage {
        @Override
        public CmAttribute attribute() {
            return CmAttribute.DREP;
        }
    }
}
