package io.softdpu.storage.initiator;

import io.softdpu.storage.SessionReport;
import java.util.List;

/**
 * Report of an initiator on its session.
 *
 * @param session what each role reports
 * @param phases the phases that were begun, in their order; after a session that broke off the last
 *     one may not be complete
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

    /** Payload of all phases. */
    public long payloadBytesMoved() {
        return phases.stream().mapToLong(PhaseReport::payloadBytes).sum();
    }

    /** Compared bytes of all phases. */
    public long bytesVerified() {
        return phases.stream().mapToLong(PhaseReport::bytesVerified).sum();
    }
}
