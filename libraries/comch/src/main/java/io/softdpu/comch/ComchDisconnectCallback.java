package io.softdpu.comch;

import io.softdpu.core.DpuException;
import org.jspecify.annotations.Nullable;

/** Callback for connections of a server that have ended. Runs inside progress. */
@FunctionalInterface
public interface ComchDisconnectCallback {
    /**
     * A connection that was established has ended.
     *
     * @param connection the connection: it provides its counters, its user data and its {@link
     *     ComchConnection#failure()}
     * @param reason null after an orderly end, by whichever side; else the failure:
     *     CONNECTION_RESET if the peer ended or violated the protocol, CONNECTION_ABORTED if it did
     *     not reply to a disconnect
     */
    void onDisconnected(ComchConnection connection, @Nullable DpuException reason);
}
