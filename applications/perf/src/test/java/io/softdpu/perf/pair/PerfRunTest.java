package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ResourceUse;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests of the figures of a run, whatever it has measured. */
class PerfRunTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final ResourceUse USE = new ResourceUse(SECOND, SECOND / 4, 1000);

    private static PerfRun<String> run(long operations, long nanos) {
        return new PerfRun<>(operations, nanos, null, USE, USE, 0, null, "own");
    }

    @Test
    void shouldFindNoFigureForAnOperationWhereThereWasNone() {
        PerfRun<String> none = run(0, 0);

        assertThat(none.allocatedBytesPerOperation()).isEmpty();
        assertThat(none.perSecond()).isZero();
        assertThat(none.gigabytesPerSecond(1000)).isZero();
    }

    @Test
    void shouldDivideByTimeAndOperations() {
        PerfRun<String> some = run(500, 2 * SECOND);

        assertThat(some.allocatedBytesPerOperation()).hasValue(4);
        assertThat(some.perSecond()).isEqualTo(250);
        assertThat(some.gigabytesPerSecond(2_000_000)).isEqualTo(0.5);
        assertThat(some.processors()).isEqualTo(0.5);
    }
}
