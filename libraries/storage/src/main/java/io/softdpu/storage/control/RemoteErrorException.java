package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;

/**
 * Exception for a peer's error_response, with the peer's status and message; the message is escaped
 * and cut in the middle, since it names the cause last.
 */
public final class RemoteErrorException extends DpuException {
    private final transient ControlPayload.ErrorResponse response;

    /** Creates an exception that keeps the response, so that it can be passed on verbatim. */
    public RemoteErrorException(ControlPayload.ErrorResponse response) {
        super(response.status(), ForeignText.escapeAndCutMiddle(response.message()));
        this.response = response;
    }

    /** Throws if a message is an error_response. */
    public static void throwIfError(ControlMessage message) {
        if (message.payload() instanceof ControlPayload.ErrorResponse error) {
            throw new RemoteErrorException(error);
        }
    }

    /** The response as received. */
    public ControlPayload.ErrorResponse response() {
        return response;
    }
}
