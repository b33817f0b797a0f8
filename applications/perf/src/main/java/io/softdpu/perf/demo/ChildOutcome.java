package io.softdpu.perf.demo;

import io.softdpu.core.Status;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ErrorLine;
import io.softdpu.perf.child.JvmCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * End of one process of a demo.
 *
 * @param name target, zero-copy or initiator
 * @param exitCode its exit code, 128 + the number for one that a signal ended; {@link #NOT_STARTED}
 * @param killed true if the demo had to kill it
 * @param order 0 for the process that ended first
 * @param complaint what it said about its failure, on lines; empty if it said nothing
 * @param report what it did; null if it left no report
 */
public record ChildOutcome(
        String name,
        int exitCode,
        boolean killed,
        int order,
        List<String> complaint,
        @Nullable ChildReport report) {

    /** The exit code of a process that was not even started, because one before it failed. */
    public static final int NOT_STARTED = -1;

    private static final int FIRST_SIGNAL = 129;

    /** A process that was not started. */
    static ChildOutcome notStarted(String name) {
        return new ChildOutcome(name, NOT_STARTED, false, Integer.MAX_VALUE, List.of(), null);
    }

    /** True if it ended well. */
    public boolean ok() {
        return exitCode == 0;
    }

    /** True if a signal ended it that did not come from the demo. */
    public boolean endedBySignal() {
        return exitCode >= FIRST_SIGNAL && !killed;
    }

    /** The status in its own error line; UNEXPECTED if it wrote none, as after a signal. */
    public Status status() {
        return complaint.stream()
                .findFirst()
                .flatMap(ErrorLine::statusOf)
                .orElse(Status.UNEXPECTED);
    }

    /** True if it failed only because another process was gone. */
    public boolean isVictim() {
        return killed
                || exitCode == NOT_STARTED
                || status() == Status.CONNECTION_RESET
                || status() == Status.CONNECTION_ABORTED;
    }

    /** A short text about the end. */
    public String howItEnded() {
        if (exitCode == NOT_STARTED) {
            return "not started";
        }
        if (killed) {
            return "did not end by itself, was killed";
        }
        return JvmCommand.describeExit(exitCode);
    }
}
