package io.softdpu.storage.control;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Server side of a Comch control channel. It accepts a single client; the server itself refuses
 * further ones with FULL while that client is connected.
 */
public final class ComchServerControlChannel extends ComchControlChannel {
    private final ComchServer server;

    ComchServerControlChannel(
            ProgressEngine engine,
            ComchServer server,
            ConsumerListener consumers,
            Duration timeout) {
        super(engine, server, consumers, timeout);
        this.server = server;
        server.setMaxClients(1);
        server.setConnectedCallback(this::connected);
        server.setDisconnectedCallback(this::disconnected);
    }

    @Override
    public String description() {
        return "client of " + serverDescription();
    }

    /** Where a client connects, for a message. */
    public String serverDescription() {
        return "comch://" + server.serverName();
    }

    @Override
    void checkPeer() {
        ComchConnection client = peer();
        if (client != null && !client.isConnected() && !hasFailed()) {
            peerLost(client.failure());
        }
    }

    @Override
    DpuException connectTimedOut(Duration waited) {
        return new DpuException(
                Status.TIME_OUT,
                "no client connected: server="
                        + server.serverName()
                        + ", waitedMillis="
                        + waited.toMillis());
    }

    private void connected(ComchConnection connection) {
        if (peer() == null) {
            peerArrived(connection);
        } else {
            // The first client has ended, so the server accepted another: this channel is for one.
            connection.disconnect();
        }
    }

    private void disconnected(ComchConnection connection, @Nullable DpuException reason) {
        if (connection == peer()) {
            peerLost(reason);
        }
    }
}
