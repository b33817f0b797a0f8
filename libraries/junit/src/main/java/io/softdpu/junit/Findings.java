package io.softdpu.junit;

import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.List;

/** Findings at the end of a test, for one failure. The test's thread. */
final class Findings {
    private final String repetition;
    private final List<String> lines = new ArrayList<>();
    private final List<Throwable> causes = new ArrayList<>();

    Findings(String repetition) {
        this.repetition = repetition;
    }

    /** Adds a finding with the place in the program that it is about. */
    void add(String line, Throwable place) {
        lines.add(line);
        causes.add(place);
    }

    /** Adds a finding. */
    void add(String line) {
        lines.add(line);
    }

    /** Adds a mistake that the sanitizer has found. */
    void add(SanitizerReport report) {
        lines.add(report.kind() + ": " + report.message());
        if (report.allocatedAt() != null) {
            causes.add(report.allocatedAt());
        }
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** One failure with all findings. */
    AssertionError toFailure() {
        AssertionError failure =
                new AssertionError(
                        Text.format(
                                "test has ended, but not all is right: findings=%d, %s\n  %s",
                                lines.size(), repetition, String.join("\n  ", lines)));
        causes.forEach(failure::addSuppressed);
        return failure;
    }
}
