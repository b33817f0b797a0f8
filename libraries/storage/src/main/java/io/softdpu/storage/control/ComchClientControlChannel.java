package io.softdpu.storage.control;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import java.time.Duration;

/** Client side of a Comch control channel. While no server serves the name, the client retries. */
public final class ComchClientControlChannel extends ComchControlChannel {
    private final ComchClient client;

    ComchClientControlChannel(
            ProgressEngine engine,
            ComchClient client,
            ConsumerListener consumers,
            Duration timeout) {
        super(engine, client, consumers, timeout);
        this.client = client;
    }

    @Override
    public String description() {
        return "comch://" + client.serverName();
    }

    @Override
    void checkPeer() {
        if (hasFailed()) {
            return;
        }
        ContextState state = client.state();
        if (peer() == null && state == ContextState.RUNNING) {
            peerArrived(client.connection());
        } else if (peer() == null && state == ContextState.IDLE) {
            DpuException reason = client.failure();
            fail(
                    reason != null
                            ? reason
                            : new DpuException(
                                    Status.NOT_CONNECTED,
                                    "client is not connected: peer=" + description()));
        } else if (peer() != null && !connection().isConnected()) {
            peerLost(client.failure());
        }
    }

    @Override
    DpuException connectTimedOut(Duration waited) {
        return new DpuException(
                Status.TIME_OUT,
                "service did not reply: server="
                        + description()
                        + ", waitedMillis="
                        + waited.toMillis());
    }
}
