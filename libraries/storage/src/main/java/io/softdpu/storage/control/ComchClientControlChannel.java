package io.softdpu.storage.control;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;

/** The connecting end of a Comch channel. A name that nobody serves is retried by the client. */
public final class ComchClientControlChannel extends ComchControlChannel {
    private final ComchClient client;

    ComchClientControlChannel(
            ProgressEngine engine, ComchClient client, ConsumerListener consumers, long timeout) {
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
    DpuException notConnectedInTime(long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "service did not answer: server="
                        + description()
                        + ", waited_ms="
                        + waitedNanos / 1_000_000);
    }
}
