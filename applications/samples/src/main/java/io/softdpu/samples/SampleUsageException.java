package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/** Failure of a sample by its options: one is missing, illegal, or excludes another. */
public final class SampleUsageException extends DpuException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates a failure with the status INVALID_VALUE.
     *
     * @param message {@code reason: key=value, expected=...}
     */
    public SampleUsageException(String message) {
        this(message, null);
    }

    /**
     * The same with a cause.
     *
     * @param cause null: none
     */
    public SampleUsageException(String message, @Nullable Throwable cause) {
        super(Status.INVALID_VALUE, message, cause);
    }
}
