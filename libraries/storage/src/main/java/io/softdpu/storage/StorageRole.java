package io.softdpu.storage;

import io.softdpu.core.DpuException;

/**
 * Role of the storage pipeline (initiator, service or target), which runs one session.
 *
 * <p>Each wait for a reply is limited by the role's control timeout, and the wait for the next
 * request of a running session by a multiple of it. The wait for a peer to connect is not limited,
 * but ended by {@link #abort} and by the end of another peer.
 */
public interface StorageRole extends AutoCloseable {
    /**
     * Runs one session on the calling thread, which becomes the role's control thread, and releases
     * all resources at its end, successful or not. To be called once.
     *
     * @return the report of a successful session
     * @throws DpuException the failure of the session: CONNECTION_RESET if a peer was lost,
     *     CONNECTION_ABORTED after {@link #abort}, TIME_OUT if a reply was not received in time or
     *     a peer was inactive, the status of a peer's error_response; BAD_STATE for a second call.
     *     {@link #report} is still available.
     */
    SessionReport run();

    /**
     * Aborts the session: each wait of {@code run} ends with CONNECTION_ABORTED. Any thread; only
     * the first call has an effect.
     *
     * @param reason for the failure's message, for example {@code User requested abort}
     */
    void abort(String reason);

    /** The current state of the report; any thread, at any time, also after {@code run}. */
    SessionReport report();

    /**
     * Releases all resources, unless {@code run} has done so; a run on another thread is aborted
     * and awaited. Idempotent.
     */
    @Override
    void close();
}
