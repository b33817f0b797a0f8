package io.softdpu.storage.initiator;

import io.softdpu.storage.SessionListener;
import io.softdpu.storage.workload.Phase;

/** Hears how the workload proceeds. Called on the control thread; must not block. */
public interface InitiatorListener extends SessionListener {
    /** A phase begins. */
    default void phaseStarted(Phase phase) {}

    /** About twice a second: what a phase has done so far. */
    default void phaseProgress(
            Phase phase, long operations, long payloadBytes, long elapsedNanos) {}

    /** A phase has ended, and what was expected of it stood in the memory. */
    default void phaseFinished(PhaseReport report) {}

    /** A listener that does nothing. */
    static InitiatorListener none() {
        return new InitiatorListener() {};
    }
}
