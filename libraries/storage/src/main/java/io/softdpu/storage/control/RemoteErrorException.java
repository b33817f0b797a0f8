package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;

/**
 * The peer answered with an error_response; status and message are the peer's own, the message
 * escaped and cut.
 */
public final class RemoteErrorException extends DpuException {
    private final transient ControlPayload.ErrorResponse response;

    /** An exception that carries the response, so that it can be passed on as it came. */
    public RemoteErrorException(ControlPayload.ErrorResponse response) {
        super(response.status(), ForeignText.escapeAndCut(response.message()));
        this.response = response;
    }

    /** Throws a peer's error_response, where a request or nothing was expected. */
    public static void throwIfError(ControlMessage message) {
        if (message.payload() instanceof ControlPayload.ErrorResponse error) {
            throw new RemoteErrorException(error);
        }
    }

    /** The response as it came. */
    public ControlPayload.ErrorResponse response() {
        return response;
    }
}
