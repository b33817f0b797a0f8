package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** A sample has looked at its data and found something else than it should be. */
public final class WrongDataException extends DpuException {
    private static final long serialVersionUID = 1L;

    WrongDataException(String message) {
        super(Status.UNEXPECTED, message);
    }
}
