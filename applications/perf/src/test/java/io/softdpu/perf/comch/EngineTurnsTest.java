package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.perf.pair.PerfCpus;
import org.junit.jupiter.api.Test;

/** Tests of when a busy thread yields. */
class EngineTurnsTest {
    private static final PerfPlan BUSY =
            PerfPlan.builder(PerfMode.RATE).waiting(PerfWait.BUSY).build();

    @Test
    void shouldYieldIfBusyThreadsAreMoreThanTheirProcessors() {
        PerfPlan four = PerfPlan.builder(PerfMode.RATE).waiting(PerfWait.BUSY).producers(4).build();
        PerfPlan shared =
                PerfPlan.builder(PerfMode.RATE)
                        .waiting(PerfWait.BUSY)
                        .cpus(new PerfCpus(0, 0))
                        .build();

        assertThat(yields(BUSY, 1)).isTrue();
        assertThat(yields(BUSY, 2)).isFalse();
        assertThat(yields(four, 4)).isTrue();
        assertThat(yields(four, 5)).isFalse();
        assertThat(yields(shared, 8)).as("pinned to one").isTrue();
    }

    @Test
    void shouldNotYieldInOtherModes() {
        assertThat(yields(PerfPlan.builder(PerfMode.RATE).build(), 1)).isFalse();
    }

    private static boolean yields(PerfPlan plan, int processors) {
        try (ProgressEngine engine = ProgressEngine.create()) {
            return new EngineTurns(plan, engine, processors).yields();
        }
    }
}
