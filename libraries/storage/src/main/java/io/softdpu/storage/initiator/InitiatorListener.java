package io.softdpu.storage.initiator;

import io.softdpu.storage.SessionListener;
import io.softdpu.storage.workload.Phase;

/** Listener for the progress of a workload. Called on the control thread; must not block. */
public interface InitiatorListener extends SessionListener {
    /** Called when a phase begins. */
    default void phaseStarted(Phase phase) {}

    /** Called about twice per second with the figures of a phase so far. */
    default void phaseProgress(
            Phase phase, long operations, long payloadBytes, long elapsedNanos) {}

    /** Called when a phase has ended, also with a failure. */
    default void phaseFinished(PhaseReport report) {}

    /** A listener that does nothing. */
    static InitiatorListener none() {
        return new InitiatorListener() {};
    }
}
