package io.softdpu.core.internal.base;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.fabric.error.FabricException;
import org.jspecify.annotations.Nullable;

/** Translation of failures of the bus to DOCA statuses. Any thread. */
public final class FabricFailures {
    private FabricFailures() {}

    /** The status of this failure. */
    public static Status statusOf(FabricException e) {
        return switch (e.kind()) {
            case NOT_FOUND -> Status.NOT_FOUND;
            case IN_USE -> Status.IN_USE;
            case TIMED_OUT -> Status.TIME_OUT;
            case INTERRUPTED -> Status.CONNECTION_ABORTED;
            case PEER_GONE -> Status.CONNECTION_RESET;
            case REFUSED -> refusal(e.refusalCode());
            case MALFORMED -> Status.INVALID_VALUE;
            case REVOKED, CLOSED -> Status.SHUTDOWN;
            case NO_MEMORY -> Status.NO_MEMORY;
            case LIMIT -> Status.FULL;
            case TOO_BIG -> Status.TOO_BIG;
            case NOT_PERMITTED -> Status.NOT_PERMITTED;
            case NOT_SUPPORTED -> Status.NOT_SUPPORTED;
            case CONFLICT -> Status.BAD_CONFIG;
            case SYSTEM -> Status.OPERATING_SYSTEM;
        };
    }

    /** The same failure as a DPU exception: its message, and itself as the cause. */
    public static DpuException from(FabricException e) {
        return from(e, null);
    }

    /**
     * The same in a call that waits.
     *
     * @param call the call, which the message names if an interrupt has ended it
     */
    public static DpuException from(FabricException e, @Nullable String call) {
        String message = String.valueOf(e.getMessage());
        return e.kind() == FabricException.Kind.INTERRUPTED
                ? Interrupts.ended(call, message, e) // on the thread that was interrupted
                : new DpuException(statusOf(e), message, e);
    }

    /** The status of a peer's refusal; a peer may send any code, so "success" becomes UNKNOWN. */
    private static Status refusal(int code) {
        Status status = Status.ofCode(code);
        return status.isError() ? status : Status.UNKNOWN;
    }
}
