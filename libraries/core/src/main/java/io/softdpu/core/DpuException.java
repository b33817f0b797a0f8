package io.softdpu.core;

import io.softdpu.linux.text.ForeignText;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a control-path call: {@link #status()} is the DOCA status, the message gives the
 * reason.
 *
 * <p>The message has the form {@code reason: key=value, key=value}, in one line whatever the values
 * are: control and format characters are escaped. Values from another process or a file are also
 * cut to 256 characters. On the data path nothing is thrown in normal operation: {@code
 * trySubmit()} returns a {@link Status}, and a task that fails later has one.
 */
public class DpuException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The status of the call. */
    private final Status status;

    /**
     * Creates a failure.
     *
     * @param status any status but {@link Status#SUCCESS}
     * @param message the reason, as {@code reason: key=value, key=value}
     */
    public DpuException(Status status, String message) {
        this(status, message, null);
    }

    /**
     * Creates a failure with a cause.
     *
     * @param status any status but {@link Status#SUCCESS}
     * @param message the reason, as {@code reason: key=value, key=value}
     * @param cause the cause, or null
     * @throws DpuException INVALID_VALUE instead, if status or message is null or it is a success
     */
    public DpuException(Status status, String message, @Nullable Throwable cause) {
        super(ForeignText.escape(NotNull.check(message, "message")), cause);
        this.status = NotNull.check(status, "status");
        if (status == Status.SUCCESS) {
            throw new DpuException(
                    Status.INVALID_VALUE, "a success is not an exception: status=SUCCESS");
        }
    }

    /** The DOCA status; never {@link Status#SUCCESS}. */
    public Status status() {
        return status;
    }

    /**
     * The class, the status and the message, for example {@code ...: NOT_FOUND: no such device:
     * ...}.
     */
    @Override
    @SuppressWarnings("OverrideThrowableToString") // the message alone is what a program prints
    public String toString() {
        return getClass().getName() + ": " + status + ": " + getMessage();
    }
}
