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
        PerfReport report = new PerfReport(5, 7, new ResourceUse(1, 2, 3));

        assertThat(report.toString()).isEqualTo("run: operations=5, value=7, " + USE);
        assertThat(PerfReport.parse(report.toString())).contains(report);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "run: operations=-1, value=7, " + USE,
                "run: operations=5, value=7 , " + USE,
                "run: operations=5, value=7",
                "run: operations=5, value=7, resources: x",
                "run: x"
            })
    void shouldReadNoOtherLine(String line) {
        assertThat(PerfReport.parse(line)).isEmpty();
    }
}
