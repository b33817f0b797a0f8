package io.softdpu.rdma.roce.wire;

import org.jspecify.annotations.Nullable;

/**
 * Reasons of a REJ (InfiniBand Architecture Specification, volume 1, table 108), as far as softdpu
 * sends them or tells them apart. Any other number counts as rejected.
 */
public final class RejectReason {
    /** There is no place for a further connection. */
    public static final int NO_RESOURCES = 3;

    /** No answer has come in time. */
    public static final int TIMEOUT = 4;

    /** The sender of the REJ cannot do what was requested. */
    public static final int UNSUPPORTED = 5;

    /** No connection has the communication id. */
    public static final int INVALID_COMMUNICATION_ID = 6;

    /** No listener has the service id. */
    public static final int INVALID_SERVICE_ID = 8;

    /** The queue pair belongs to a connection already. */
    public static final int STALE_CONNECTION = 10;

    /** The path MTU is larger than the receiver of the REQ takes. */
    public static final int INVALID_PATH_MTU = 26;

    /** The program has rejected. */
    public static final int CONSUMER = 28;

    private RejectReason() {}

    /**
     * The reason in words.
     *
     * @return null if it is none of this class
     */
    public static @Nullable String text(int reason) {
        return switch (reason) {
            case NO_RESOURCES -> "no resources";
            case TIMEOUT -> "timeout";
            case UNSUPPORTED -> "unsupported";
            case INVALID_COMMUNICATION_ID -> "invalid communication id";
            case INVALID_SERVICE_ID -> "invalid service id";
            case STALE_CONNECTION -> "stale connection";
            case INVALID_PATH_MTU -> "invalid path MTU";
            case CONSUMER -> "consumer";
            default -> null;
        };
    }
}
