package io.softdpu.storage;

import io.softdpu.core.DpuException;

/**
 * One of the three programs of the pipeline, as an object: it serves or drives one session.
 *
 * <p>Each wait for a reply is bounded by the role's control timeout, and so is, by a multiple of
 * it, the wait for the next request of a session that is under way. Waiting for a peer to arrive is
 * not, but {@link #abort} ends it, and so does the end of a peer.
 */
public interface StorageRole extends AutoCloseable {
    /**
     * Runs one session on the calling thread, which is the role's control thread from now on, and
     * takes everything down at its end, however it ended. To be called once.
     *
     * @return what was done; the session went well
     * @throws DpuException why the session failed: CONNECTION_RESET where a peer vanished,
     *     CONNECTION_ABORTED after {@link #abort}, TIME_OUT where a reply did not come or a peer
     *     fell silent, a peer's own status where it sent an error_response; BAD_STATE for a second
     *     call. {@link #report} still tells what was done.
     */
    SessionReport run();

    /**
     * Ends the session soon: whatever {@code run} waits for ends with CONNECTION_ABORTED. Any
     * thread; only the first call counts.
     *
     * @param reason why, for example {@code User requested abort}
     */
    void abort(String reason);

    /** What is known at this moment; any thread, at any time, also after {@code run}. */
    SessionReport report();

    /**
     * Gives back what was opened, if {@code run} has not done so yet; a run that is under way on
     * another thread is aborted and waited for. Idempotent.
     */
    @Override
    void close();
}
