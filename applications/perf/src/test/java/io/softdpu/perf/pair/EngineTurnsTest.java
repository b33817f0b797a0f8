package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.ProgressEngine;
import org.junit.jupiter.api.Test;

/** Tests of when a busy thread yields. */
class EngineTurnsTest {
    @Test
    void shouldYieldIfBusyThreadsAreMoreThanTheirProcessors() {
        assertThat(yields(PerfWait.BUSY, 2, 1)).isTrue();
        assertThat(yields(PerfWait.BUSY, 2, 2)).isFalse();
        assertThat(yields(PerfWait.BUSY, 5, 4)).isTrue();
        assertThat(yields(PerfWait.BUSY, 5, 5)).isFalse();
    }

    @Test
    void shouldNotYieldInOtherModes() {
        assertThat(yields(PerfWait.ADAPTIVE, 2, 1)).isFalse();
        assertThat(yields(PerfWait.EVENT, 2, 1)).isFalse();
    }

    private static boolean yields(PerfWait waiting, int pollers, int processors) {
        try (ProgressEngine engine = ProgressEngine.create()) {
            return new EngineTurns(engine, waiting, pollers, processors).yields();
        }
    }
}
