package io.softdpu.core;

import io.softdpu.linux.text.ForeignText;
import org.jspecify.annotations.Nullable;

/**
 * A call that sets something up has failed; {@link #status()} says how, the message why.
 *
 * <p>The message has the form {@code reason: key=value, key=value}, in one line whatever the values
 * are: control characters and their like are escaped. Values that came from another process or out
 * of a file are also cut, to 256 characters. On the data path nothing is thrown for what can happen
 * in normal work: there {@code trySubmit()} returns a {@link Status}, and a task that fails later
 * carries its own.
 */
public class DpuException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Status status;

    /**
     * A failure.
     *
     * @param status what went wrong, any status but {@link Status#SUCCESS}
     * @param message why, as {@code reason: key=value, key=value}
     */
    public DpuException(Status status, String message) {
        this(status, message, null);
    }

    /**
     * A failure that another one below it caused.
     *
     * @param status what went wrong, any status but {@link Status#SUCCESS}
     * @param message why, as {@code reason: key=value, key=value}
     * @param cause the failure below this one, or null
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

    /** What went wrong; never {@link Status#SUCCESS}. */
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
