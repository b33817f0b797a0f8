package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Request of a connection from a listener, until its answer. Belongs to the engine's thread, except
 * where a method states otherwise.
 */
final class ShmAttempt {
    private static final String MEMORY_NAME = "softdpu-rdma-request";

    private final ShmConnection connection;
    private final Bus bus;
    private final ContextServices services;
    private final ConnectMessage.Route route;
    private @Nullable Import<Attachment> connecting;

    /** Answer or failure, to be handled in progress: payload or failure is set. */
    @SuppressWarnings("ArrayRecordComponent") // private, never compared
    private record Answer(
            byte @Nullable [] payload, long memoryBytes, @Nullable Throwable failure) {}

    private @Nullable Answer answer;

    ShmAttempt(ShmConnection connection, ConnectMessage.Route route) {
        this.connection = connection;
        this.bus = connection.endpoint().bus();
        this.services = connection.endpoint().services();
        this.route = route;
    }

    /**
     * Sends the request.
     *
     * @param name of the listener
     * @throws FabricException NO_MEMORY, SYSTEM
     */
    void begin(String name, byte[] payload, long timeoutNanos) {
        // A handshake has memory of both sides; neither reads it.
        SharedSegment memory = SharedSegment.allocate(MEMORY_NAME, 1);
        try {
            Import<Attachment> begun = bus.connect(name, payload, memory, timeoutNanos);
            connecting = begun;
            begun.deliver(services::post, this::completed);
        } finally {
            bus.release(memory);
        }
    }

    /** From the mailbox. */
    private void completed(@Nullable Attachment attachment, @Nullable Throwable failure) {
        if (attachment == null) {
            answer = new Answer(null, 0, failure);
        } else {
            answer = new Answer(attachment.payload(), attachment.remote().sizeBytes(), null);
            close(); // nothing else is needed of the listener
        }
    }

    /**
     * Handles the answer, if it is there. Inside progress.
     *
     * @return whether it was
     */
    boolean progress() {
        Answer found = answer;
        if (found == null) {
            return false;
        }
        answer = null;
        byte[] payload = found.payload();
        if (payload == null) {
            failed(Failures.of(Objects.requireNonNull(found.failure(), "either")));
            return true;
        }
        try {
            ConnectMessage.requireMemory(found.memoryBytes());
            answered(ConnectMessage.decodeAnswer(payload));
        } catch (DpuException e) {
            failed(e);
        }
        return true;
    }

    private void answered(ConnectMessage message) {
        if (message.kind() == ConnectMessage.Kind.REJECT) {
            connection.endpoint().listener().rejected(connection, message.privateData());
            failed(
                    new DpuException(
                            Status.CONNECTION_ABORTED,
                            Text.format(
                                    "program of the listener has rejected the request:"
                                            + " privateDataBytes=%d, expected=see"
                                            + " RdmaConnection.peerPrivateData",
                                    message.privateData().length)));
            return;
        }
        ShmDetails details = message.requireDetails();
        if (!ShmEndpoint.reaches(bus, details)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "answer has a region of another machine: region=" + details.region().busId());
        }
        connection
                .endpoint()
                .listener()
                .accepted(connection, message.permissions(), message.privateData());
        connection.connect(details);
    }

    /** Whether progress has something to do. */
    boolean hasWork() {
        return answer != null;
    }

    /** Fails the connection after the listener has accepted it, before it is established. */
    void failedSince(DpuException failure) {
        // NOT_FOUND would mean that nothing listened there.
        failed(
                failure.status() == Status.NOT_FOUND
                        ? new DpuException(Status.CONNECTION_RESET, Reason.of(failure), failure)
                        : failure);
    }

    private void failed(DpuException failure) {
        connection.end(
                CloseReason.CONNECT_FAILED,
                failure.status(),
                Text.format(
                        "RDMA connection by address failed: address=%s, port=%d, reason=%s",
                        route.destination().getHostAddress(), route.port(), Reason.of(failure)));
    }

    /** Ends the request; the listener sees that the peer has gone. */
    void close() {
        if (connecting != null) {
            connecting.close();
        }
    }
}
