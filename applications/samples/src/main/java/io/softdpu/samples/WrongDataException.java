package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** Thrown by a sample whose data is wrong. */
public final class WrongDataException extends DpuException {
    private static final long serialVersionUID = 1L;

    WrongDataException(String message) {
        super(Status.UNEXPECTED, message);
    }

    WrongDataException(String message, Throwable cause) {
        super(Status.UNEXPECTED, message, cause);
    }
}
