package io.softdpu.storage.initiator;

import io.softdpu.storage.SessionReport;
import java.util.List;

/**
 * Report of an initiator about its session.
 *
 * @param session the report common to all roles
 * @param phases the started phases, in order; the last one may be incomplete after a failed session
 */
public record InitiatorReport(SessionReport session, List<PhaseReport> phases) {

    /** Takes a copy of the list. */
    public InitiatorReport {
        phases = List.copyOf(phases);
    }

    /** Operations of all phases. */
    public long operations() {
        return phases.stream().mapToLong(PhaseReport::operations).sum();
    }

    /** Payload bytes of all phases. */
    public long payloadBytesMoved() {
        return phases.stream().mapToLong(PhaseReport::payloadBytes).sum();
    }

    /** Compared bytes of all phases. */
    public long bytesVerified() {
        return phases.stream().mapToLong(PhaseReport::bytesVerified).sum();
    }
}
