package io.softdpu.storage.wire;

/**
 * Control message: the two numbers of its header and its payload.
 *
 * @param messageId number of a pair of request and response, chosen by the requester
 * @param correlationId number of an operation: the service uses the initiator's number for its own
 *     requests to the target for that operation
 * @param payload the payload
 */
public record ControlMessage(int messageId, int correlationId, ControlPayload payload) {

    /** The type of the payload. */
    public ControlMessageType type() {
        return payload.type();
    }

    /** Creates a response to this message, with the same numbers. */
    public ControlMessage reply(ControlPayload response) {
        return new ControlMessage(messageId, correlationId, response);
    }
}
