package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ResourceUse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the line by which the DPU reports its part of a run. */
class PerfReportTest {
    private static final String USE = "resources: nanos=1, cpuNanos=2, allocatedBytes=3";

    @Test
    void shouldReadItsOwnLine() {
        PerfReport report = new PerfReport(5, -7, new ResourceUse(1, 2, 3));
        PerfReport timed =
                new PerfReport(5, 7, new Percentiles(1, 2, 3, 4), new ResourceUse(1, 2, 3));

        assertThat(report.toString())
                .isEqualTo("report: operations=5, value=-7, latenciesNanos=none, " + USE);
        assertThat(timed.toString())
                .isEqualTo("report: operations=5, value=7, latenciesNanos=1/2/3/4, " + USE);
        assertThat(PerfReport.parse(report.toString())).contains(report);
        assertThat(PerfReport.parse(timed.toString())).contains(timed);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "report: operations=-1, value=7, latenciesNanos=none, " + USE,
                "report: operations=5, value=7 , latenciesNanos=none, " + USE,
                "report: operations=5, value=7, latenciesNanos=1/2/3, " + USE,
                "report: operations=5, value=7, latenciesNanos=none",
                "report: operations=5, value=7, latenciesNanos=none, resources: x",
                "report: x"
            })
    void shouldReadNoOtherLine(String line) {
        assertThat(PerfReport.parse(line)).isEmpty();
    }
}
