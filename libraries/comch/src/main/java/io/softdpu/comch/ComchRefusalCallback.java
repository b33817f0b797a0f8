package io.softdpu.comch;

import io.softdpu.core.DpuException;

/** Callback for clients that a server has refused. Runs inside progress. */
@FunctionalInterface
public interface ComchRefusalCallback {
    /**
     * A client was refused, or has given up before it was accepted. The server goes on.
     *
     * @param connection the connection that was not established: it provides the client's function
     *     and {@linkplain ComchConnection#peer() process}, and user data. Each refusal has one of
     *     its own
     * @param reason also its {@link ComchConnection#failure()}: FULL if the server has all its
     *     clients, INVALID_VALUE if the maximum message sizes differ, CONNECTION_RESET if the
     *     client has given up, NOT_PERMITTED, NO_MEMORY
     */
    void onRefused(ComchConnection connection, DpuException reason);
}
