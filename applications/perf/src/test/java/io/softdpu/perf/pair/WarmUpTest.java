package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WarmUpTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0, 0, 1",
        "50, 0, 0, 0, 1",
        "51, 50, 0, 0, 2",
        "900, 51, 50, 0, 3",
        "900, 900, 900, 900, 4"
    })
    void shouldRunUntilTheCompilersTookATwentiethOfARun(
            long first, long second, long third, long fourth, int runs) {
        long[] millis = {first, second, third, fourth};
        long[] compiled = {7};
        AtomicInteger done = new AtomicInteger();

        WarmUp.repeat(
                SECOND, () -> compiled[0] += millis[done.getAndIncrement()], () -> compiled[0]);

        assertThat(done).hasValue(runs);
    }
}
