package io.softdpu.storage.initiator;

import io.softdpu.storage.SessionListener;
import io.softdpu.storage.workload.Phase;
import java.time.Duration;

/**
 * Listener for the steps of an initiator's session and for the phases of its workload, which run
 * one after the other. All methods are called on the thread that runs the initiator, and must not
 * block: the session does not continue meanwhile.
 */
public interface InitiatorListener extends SessionListener {
    /**
     * Called when a phase begins.
     *
     * @param phase the phase
     */
    default void phaseStarted(Phase phase) {}

    /**
     * Called about twice per second while the operations of a phase run.
     *
     * @param phase the phase
     * @param operations operations completed since the phase began
     * @param payloadBytes bytes that they have read or written
     * @param elapsed time since the phase began
     */
    default void phaseProgress(Phase phase, long operations, long payloadBytes, Duration elapsed) {}

    /**
     * Called when all operations of a phase have completed and its data was compared, also if
     * operations failed or the data differs. Not called for a phase in which the session ends: the
     * report of such a phase is in the {@link InitiatorReport} alone.
     *
     * @param report the results of the phase
     */
    default void phaseFinished(PhaseReport report) {}

    /** A listener that does nothing. */
    static InitiatorListener none() {
        return new InitiatorListener() {};
    }
}
