package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.Phase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressPrinterTest {
    private final StringWriter text = new StringWriter();
    private final ProgressPrinter printer = new ProgressPrinter(new PrintWriter(text));

    /** A parent takes the lines about resources for those of the phase's ends, in their order. */
    @Test
    void shouldSayOnceAtEachEndOfAPhaseWhatWasUsedAndAtTheLastBeforeItEnds() {
        printer.phaseStarted(Phase.read("idle").build());
        printer.phaseProgress(Phase.read("idle").build(), 3, 12288, Duration.ofNanos(500));
        printer.phaseFinished(report("idle", 7, 28672, 900));

        List<String> lines = text.toString().lines().toList();
        assertThat(lines).hasSize(5);
        assertThat(ProgressLine.parse(lines.get(0)))
                .contains(new ProgressLine("idle", false, 0, 0, 0));
        ResourceUse begin = ResourceUse.parse(lines.get(1)).orElseThrow();
        assertThat(ProgressLine.parse(lines.get(2)))
                .contains(new ProgressLine("idle", false, 3, 12288, 500));
        ResourceUse end = ResourceUse.parse(lines.get(3)).orElseThrow();
        assertThat(ProgressLine.parse(lines.get(4)))
                .contains(new ProgressLine("idle", true, 7, 28672, 900));
        assertThat(end.since(begin).nanos()).isPositive();
        assertThat(end.since(begin).allocatedBytes()).isPositive();
    }

    private static PhaseReport report(String name, long operations, long payloadBytes, long nanos) {
        return new PhaseReport(
                name,
                true,
                IoType.READ,
                4096,
                1,
                operations,
                0,
                payloadBytes,
                Duration.ofNanos(nanos),
                new LatencySummary(0, 0, 0, 0, 0, 0, 0, 0),
                null,
                List.of(),
                0,
                "",
                "");
    }
}
