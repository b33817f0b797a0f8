package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.storage.RdmaCounters;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
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

    @Test
    void shouldHaveTheCountersOfTheProvider() {
        RdmaCounters counters =
                new RdmaCounters(counts("packets_sent", "naks"), counts("impair_lost"));
        PerfReport report = new PerfReport(5, 0, null, new ResourceUse(1, 2, 3), counters);

        assertThat(report.toString())
                .isEqualTo(
                        "report: operations=5, value=0, latenciesNanos=none,"
                                + " counters=packets_sent:1,naks:2/impair_lost:1, "
                                + USE);
        assertThat(PerfReport.parse(report.toString())).contains(report);
    }

    private static SequencedMap<String, Long> counts(String... names) {
        SequencedMap<String, Long> counts = new LinkedHashMap<>();
        for (String name : names) {
            counts.put(name, counts.size() + 1L);
        }
        return counts;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "report: operations=-1, value=7, latenciesNanos=none, " + USE,
                "report: operations=5, value=7 , latenciesNanos=none, " + USE,
                "report: operations=5, value=7, latenciesNanos=1/2/3, " + USE,
                "report: operations=5, value=7, latenciesNanos=none",
                "report: operations=5, value=7, latenciesNanos=none, counters=, " + USE,
                "report: operations=5, value=7, latenciesNanos=none, counters=a/, " + USE,
                "report: operations=5, value=7, latenciesNanos=none, counters=A:1/, " + USE,
                "report: operations=5, value=7, latenciesNanos=none, counters=/a:-1, " + USE,
                "report: operations=5, value=7, latenciesNanos=none, counters=a:1/b:1,, " + USE,
                "report: operations=5, value=7, latenciesNanos=none, resources: x",
                "report: x"
            })
    void shouldReadNoOtherLine(String line) {
        assertThat(PerfReport.parse(line)).isEmpty();
    }
}
