package io.softdpu.perf.child;

import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.workload.Phase;
import java.io.PrintWriter;
import java.time.Duration;

/**
 * Prints progress of the plan for a parent, and unasked the resource use of this process at each
 * phase boundary: a request would arrive after the next phase has begun. So the use of a phase is
 * printed before the end of the phase.
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
    public void phaseProgress(Phase phase, long operations, long payloadBytes, Duration elapsed) {
        out.println(
                new ProgressLine(phase.name(), false, operations, payloadBytes, elapsed.toNanos()));
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
                        report.duration().toNanos()));
    }
}
