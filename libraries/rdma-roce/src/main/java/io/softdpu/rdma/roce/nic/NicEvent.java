package io.softdpu.rdma.roce.nic;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;

/**
 * Event of a connection for its engine.
 *
 * @param receives number of receives of the endpoint that were completed before
 */
public record NicEvent(NicConnection connection, long receives, What what) {
    /** The kinds of events, with what each says. */
    public sealed interface What {}

    /**
     * The listener at the address has accepted the request.
     *
     * @param grants what the peer's instance grants
     * @param data of the listener's program; not modified
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Accepted(Permissions grants, byte[] data) implements What {}

    /**
     * The program of the listener has rejected the request; the end follows.
     *
     * @param data of that program; not modified
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Rejected(byte[] data) implements What {}

    /** Establishment of the connection. */
    public record Established() implements What {}

    /**
     * End of the connection.
     *
     * @param status as {@link io.softdpu.rdma.spi.EndpointListener#ended}
     * @param reason as there
     * @param requestStatus status of the requests that the NIC has not got before the end
     */
    public record Ended(Status status, String reason, Status requestStatus) implements What {}
}
