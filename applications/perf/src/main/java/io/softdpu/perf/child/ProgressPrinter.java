package io.softdpu.perf.child;

import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.workload.Phase;
import java.io.PrintWriter;

/**
 * Tells a parent how far the plan is, and unasked what this process has used at each end of a
 * phase: by the time that a question had come, the next thing would have begun. So what it has used
 * in a phase is said before the phase's end.
 *
 * @param out gets the lines
 */
public record ProgressPrinter(PrintWriter out) implements InitiatorListener {
    @Override
    public void phaseStarted(Phase phase) {
        out.println(new ProgressLine(phase.name(), false, 0, 0, 0));
        out.println(ResourceUse.now());
    }

    @Override
    public void phaseProgress(Phase phase, long operations, long payloadBytes, long elapsedNanos) {
        out.println(new ProgressLine(phase.name(), false, operations, payloadBytes, elapsedNanos));
    }

    @Override
    public void phaseFinished(PhaseReport report) {
        out.println(ResourceUse.now());
        out.println(
                new ProgressLine(
                        report.name(),
                        true,
                        report.operations(),
                        report.payloadBytes(),
                        report.nanos()));
    }
}
