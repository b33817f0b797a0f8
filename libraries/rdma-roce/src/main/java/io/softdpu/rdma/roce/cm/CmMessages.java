package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.PrivateData;
import java.util.Arrays;

/** Messages of an end, with the values that softdpu states where it has no use for a field. */
final class CmMessages {
    private static final int PARTITION_KEY = 0xffff;
    private static final int CM_RETRIES = 15;

    /** Code of the time within which this end acknowledges a packet: 134 ms, as Linux states. */
    private static final int ACK_DELAY = 15;

    /** Local identifiers have no meaning for RoCE; Linux states this, too. */
    private static final int NO_LID = 0xffff;

    private static final int HOP_LIMIT = 64;
    private static final byte[] NO_DATA = {};

    private CmMessages() {}

    /**
     * A REQ.
     *
     * @param periodCode of the time within which an answer is awaited, and is sent
     */
    static CmMessage.Req req(
            long transactionId,
            int localId,
            long serviceId,
            long guid,
            int queuePair,
            int startingPsn,
            LocalTerms terms,
            Gid near,
            Gid far,
            int periodCode,
            byte[] privateData) {
        return new CmMessage.Req(
                transactionId,
                localId,
                serviceId,
                guid,
                0,
                queuePair,
                terms.responderResources(),
                terms.initiatorDepth(),
                periodCode,
                false,
                startingPsn,
                periodCode,
                terms.retries(),
                PARTITION_KEY,
                EndGuid.mtuCode(terms.pathMtuBytes()),
                terms.rnrRetries(),
                CM_RETRIES,
                true,
                new CmMessage.Path(
                        NO_LID,
                        NO_LID,
                        near.bytes(),
                        far.bytes(),
                        0,
                        0,
                        0,
                        HOP_LIMIT,
                        0,
                        false,
                        terms.ackTimeout()),
                privateData);
    }

    /** A REP. */
    static CmMessage.Rep rep(
            long transactionId,
            int localId,
            int remoteId,
            long guid,
            int queuePair,
            Agreement agreement,
            int rnrRetries,
            byte[] privateData) {
        return new CmMessage.Rep(
                transactionId,
                localId,
                remoteId,
                0,
                queuePair,
                agreement.path().receivePsn(),
                agreement.path().responderResources(),
                agreement.path().initiatorDepth(),
                ACK_DELAY,
                0,
                false,
                rnrRetries,
                true,
                guid,
                privateData);
    }

    /** Private data of a DREQ that ends a connection by a failure. */
    static byte[] failure(long guid, String reason) {
        byte[] text = Explanation.text(reason, PrivateData.REJECT_BYTES);
        byte[] head = new Explanation(guid, true, text.length).encode();
        byte[] data = Arrays.copyOf(head, head.length + text.length);
        System.arraycopy(text, 0, data, head.length, text.length);
        return data;
    }

    /**
     * The reason of the failure by which the peer has ended a connection.
     *
     * @param privateData of its DREQ
     * @return empty if that was orderly, or the peer states no reason
     */
    static String failureOf(byte[] privateData) {
        Explanation stated =
                Explanation.decode(privateData, privateData.length - Explanation.WIRE_BYTES);
        return stated == null || !stated.byLibrary()
                ? ""
                : Explanation.foreignText(privateData, Explanation.WIRE_BYTES, stated.dataBytes());
    }

    static CmMessage.Rtu rtu(long transactionId, int localId, int remoteId) {
        return new CmMessage.Rtu(transactionId, localId, remoteId, NO_DATA);
    }

    static CmMessage.Drep drep(CmMessage.Dreq dreq) {
        return new CmMessage.Drep(
                dreq.transactionId(),
                /* localId= */ dreq.remoteId(),
                /* remoteId= */ dreq.localId(),
                NO_DATA);
    }
}
