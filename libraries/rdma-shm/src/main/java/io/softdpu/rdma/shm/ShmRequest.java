package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.ProviderConnection;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Request of a peer that waits for its answer. The answer that accepts is sent in a later pass of
 * progress than the call, so that the context is RUNNING before. Belongs to the engine's thread.
 */
final class ShmRequest implements ConnectRequest {
    private final ShmListeners listeners;
    private final ShmPort listener;
    private final PendingLink pending;
    private final ConnectMessage message;

    /** Answered, given up by the peer, or ended with the endpoint. */
    private boolean ended;

    /** The accepted connection, until the answer was sent. */
    private @Nullable ShmConnection accepted;

    private byte[] answer = new byte[0];

    ShmRequest(
            ShmListeners listeners, ShmPort listener, PendingLink pending, ConnectMessage message) {
        this.listeners = listeners;
        this.listener = listener;
        this.pending = pending;
        this.message = message;
    }

    @Override
    public int port() {
        return listener.port();
    }

    @Override
    public InetAddress peerAddress() {
        return message.requireRoute().source();
    }

    @Override
    public Permissions peerPermissions() {
        return message.permissions();
    }

    @Override
    public byte[] privateData() {
        return message.privateData().clone();
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    @Override
    public ProviderConnection accept(byte[] privateData, Object owner) {
        ShmConnection connection = listeners.endpoint().createConnection(owner);
        boolean prepared = false;
        try {
            connection
                    .setup()
                    .setDeadline(
                            "peer did not complete the connection in time: peer="
                                    + peerAddress().getHostAddress());
            answer =
                    ConnectMessage.accept(
                                    listeners.endpoint().config().permissions(),
                                    connection.setup().details(),
                                    privateData)
                            .encode();
            prepared = true;
        } finally {
            if (!prepared) {
                connection.close();
            }
        }
        end();
        accepted = connection;
        return connection;
    }

    @Override
    public void reject(byte[] privateData) {
        end();
        byte[] bytes = ConnectMessage.reject(privateData).encode();
        try {
            listeners.endpoint().bus().release(pending.accept(bytes, listeners.answerMemory()));
        } catch (FabricException e) {
            // The peer has gone: it needs no answer, and its link and memory are released.
            return;
        }
    }

    @Override
    public void refuse(String reason) {
        if (accepted != null || !ended) {
            accepted = null;
            end();
            pending.refuse(Status.CONNECTION_ABORTED.code(), reason);
        }
    }

    /** From the mailbox: the peer has given up, or its process has ended. */
    void peerGone() {
        if (!ended) {
            refuse("the peer has ended its request");
        }
    }

    private void end() {
        if (!ended) {
            ended = true;
            listeners.release();
        }
    }

    /** Whether {@link #isFinished} has an answer to send. */
    boolean isAnswerDue() {
        return accepted != null;
    }

    /**
     * Sends the answer if the request was accepted, and begins to connect. Inside progress.
     *
     * @return whether nothing is left to do
     */
    boolean isFinished() {
        ShmConnection connection = accepted;
        if (connection == null) {
            return ended;
        }
        accepted = null;
        if (connection.hasEnded()) {
            pending.refuse(
                    Status.CONNECTION_ABORTED.code(), "listener has disconnected: port=" + port());
            return true;
        }
        try {
            listeners.endpoint().bus().release(pending.accept(answer, listeners.answerMemory()));
            connection.connect(message.requireDetails());
        } catch (FabricException e) {
            connection.setup().failed(Failures.of(e));
        } catch (DpuException e) {
            connection.setup().failed(e);
        }
        return true;
    }

    ShmPort listener() {
        return listener;
    }
}
