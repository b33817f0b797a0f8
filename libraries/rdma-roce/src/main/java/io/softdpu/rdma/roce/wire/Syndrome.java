package io.softdpu.rdma.roce.wire;

/**
 * Syndrome of an acknowledgement: a kind in bits 6 and 5, and a value below them (InfiniBand
 * Architecture Specification, volume 1, section 9.7.5.2.1). Bit 7 is reserved and ignored.
 *
 * <pre>
 *  00 acknowledgement             value: credits, 31 for "not used"
 *  01 receiver not ready (RNR)    value: code of the timer
 *  11 negative acknowledgement    value: one of the codes below
 * </pre>
 */
public final class Syndrome {
    /** Acknowledgement of a responder that does not count credits. */
    public static final int ACKNOWLEDGED = 31;

    /** Code of a negative acknowledgement: a packet before this one is missing. */
    public static final int SEQUENCE_ERROR = 0;

    /** Code of a negative acknowledgement: the request is not one that the responder takes. */
    public static final int INVALID_REQUEST = 1;

    /** Code of a negative acknowledgement: the memory is not accessible in this way. */
    public static final int REMOTE_ACCESS_ERROR = 2;

    /** Code of a negative acknowledgement: the responder could not execute the request. */
    public static final int REMOTE_OPERATIONAL_ERROR = 3;

    private static final int KIND_MASK = 0x60;
    private static final int VALUE_MASK = 0x1f;
    private static final int RNR = 0x20;
    private static final int NEGATIVE = 0x60;

    private Syndrome() {}

    /**
     * The syndrome of a responder that has no receive for a message.
     *
     * @param timer code, 0 to 31
     */
    public static int receiverNotReady(int timer) {
        return RNR | (timer & VALUE_MASK);
    }

    /**
     * The syndrome of a negative acknowledgement.
     *
     * @param code as {@link #SEQUENCE_ERROR}
     */
    public static int negative(int code) {
        return NEGATIVE | (code & VALUE_MASK);
    }

    /** Whether it acknowledges. */
    public static boolean isAcknowledgement(int syndrome) {
        return (syndrome & KIND_MASK) == 0;
    }

    /** Whether the responder had no receive. */
    public static boolean isReceiverNotReady(int syndrome) {
        return (syndrome & KIND_MASK) == RNR;
    }

    /** Whether it is a negative acknowledgement. */
    public static boolean isNegative(int syndrome) {
        return (syndrome & KIND_MASK) == NEGATIVE;
    }

    /** The credits, the code of the timer, or the code of a negative acknowledgement. */
    public static int value(int syndrome) {
        return syndrome & VALUE_MASK;
    }
}
