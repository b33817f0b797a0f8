package io.softdpu.storage.wire;

/**
 * A control message: its header's two numbers and its payload.
 *
 * @param messageId one number for each pair of request and response, chosen by the requester
 * @param correlationId groups what belongs to one cause: the service keeps the initiator's number
 *     in what it asks of the target on the initiator's behalf
 * @param payload what it says
 */
public record ControlMessage(int messageId, int correlationId, ControlPayload payload) {

    /** The type of the payload. */
    public ControlMessageType type() {
        return payload.type();
    }

    /** A response to this message: same numbers, another payload. */
    public ControlMessage reply(ControlPayload response) {
        return new ControlMessage(messageId, correlationId, response);
    }
}
