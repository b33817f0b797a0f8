package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatencySummaryTest {
    /** Of 1000 operations 910 took 10 ns, 70 took 100 ns, 18 took 500 ns, and two 1000 ns. */
    @Test
    void shouldHaveThePercentilesOfTheOperationsOfAllCores() {
        Histogram fast = PhaseRun.newLatencies();
        fast.recordValueWithCount(10, 900);
        fast.recordValueWithCount(100, 10);
        Histogram slow = PhaseRun.newLatencies();
        slow.recordValueWithCount(10, 10);
        slow.recordValueWithCount(100, 60);
        slow.recordValueWithCount(500, 18);
        slow.recordValueWithCount(1000, 2);

        LatencySummary expected = new LatencySummary(1000, 10, 1000, 27.1, 10, 10, 500, 1000);
        assertThat(LatencySummary.of(List.of(fast, slow))).isEqualTo(expected);
        assertThat(LatencySummary.of(List.of(slow, fast))).isEqualTo(expected);
    }
}
