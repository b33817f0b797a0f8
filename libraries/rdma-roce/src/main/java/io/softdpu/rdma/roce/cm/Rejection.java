package io.softdpu.rdma.roce.cm;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.spi.PrivateData;
import java.util.Arrays;

/**
 * Contents of a REJ. Immutable but for its array, which is not changed.
 *
 * @param reason as {@link RejectReason#CONSUMER}
 * @param byLibrary whether the library has rejected, and not the program
 * @param data of the program, or the reason of the library as text
 */
@SuppressWarnings("ArrayRecordComponent") // package-private, never compared
record Rejection(int reason, boolean byLibrary, byte[] data) {
    /** Of a request that is repeated after the end of its connection. */
    static final Rejection STALE = byLibrary(RejectReason.STALE_CONNECTION, "connection has ended");

    static Rejection byProgram(byte[] data) {
        return new Rejection(RejectReason.CONSUMER, false, data.clone());
    }

    static Rejection byLibrary(int reason, String text) {
        return new Rejection(reason, true, Explanation.text(text, PrivateData.REJECT_BYTES));
    }

    /**
     * The rejection in an untrusted REJ. One of an end that is none of softdpu has all the data if
     * it is a program's, and no text otherwise.
     */
    static Rejection of(CmMessage.Rej rej) {
        byte[] data = rej.privateData();
        Explanation stated = Explanation.decode(rej.information(), data.length);
        if (stated == null) {
            return rej.reason() == RejectReason.CONSUMER
                    ? new Rejection(rej.reason(), false, data)
                    : byLibrary(rej.reason(), "");
        }
        byte[] statedData = Arrays.copyOf(data, stated.dataBytes());
        return new Rejection(rej.reason(), stated.byLibrary(), statedData);
    }

    /**
     * The REJ.
     *
     * @param guid of the end that rejects
     * @param localId its number; 0 if it has given none
     * @param remoteId the receiver's number; 0 if it is not known
     */
    CmMessage.Rej message(
            long transactionId, int localId, int remoteId, CmMessage.About about, long guid) {
        return new CmMessage.Rej(
                transactionId,
                localId,
                remoteId,
                about,
                reason,
                new Explanation(guid, byLibrary, data.length).encode(),
                data);
    }

    /** Status of the end whose request was rejected by this. */
    Status status(boolean byKey) {
        return switch (reason) {
            case RejectReason.INVALID_SERVICE_ID ->
                    byKey ? Status.CONNECTION_RESET : Status.NOT_FOUND;
            case RejectReason.TIMEOUT -> Status.TIME_OUT;
            default -> Status.CONNECTION_ABORTED;
        };
    }

    /** The reason for messages, and what the library of the peer says. */
    String describe() {
        String known = RejectReason.text(reason);
        String text = "reason=" + (known == null ? "number " + reason : known);
        return byLibrary && data.length > 0
                ? text + ", text=" + Explanation.foreignText(data, 0, data.length)
                : text;
    }
}
