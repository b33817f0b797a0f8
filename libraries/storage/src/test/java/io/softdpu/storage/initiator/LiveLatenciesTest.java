package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.SeededRandom;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link LiveLatencies} and {@link LatencyCounts}. */
class LiveLatenciesTest {
    private final LiveLatencies live = new LiveLatencies();

    private LatencyCounts counts() {
        long[] sums = LiveLatencies.newSums();
        live.addTo(sums);
        return new LatencyCounts(sums);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 15, 16, 17, 31, 32, 33, 1000, 123_456, 1L << 30, (1L << 40) - 1})
    void shouldRoundUpByASixteenthAtMost(long nanos) {
        live.record(nanos);

        assertThat(counts().count()).isEqualTo(1);
        for (double percent : new double[] {0.1, 50, 100}) {
            assertThat(counts().percentile(percent).toNanos()).isBetween(nanos, nanos + nanos / 16);
        }
    }

    @Test
    void shouldCountWhatIsOutOfRangeInTheLastAndTheFirstClass() {
        live.record(Long.MAX_VALUE);
        assertThat(counts().percentile(50).toNanos()).isEqualTo((1L << 40) - 1);
        live.record(-5);
        assertThat(counts().percentile(50).toNanos()).isZero();
    }

    @Test
    void shouldHaveTheRankOfSortedValues(SeededRandom random) {
        long[] values = new long[10_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = 1 + random.nextInt(1_000_000);
            live.record(values[i]);
        }
        Arrays.sort(values);
        for (double percent : new double[] {1, 50, 90, 99, 99.9, 100}) {
            long exact = values[(int) Math.ceil(values.length * percent / 100) - 1];
            assertThat(counts().percentile(percent).toNanos()).isBetween(exact, exact + exact / 16);
        }
    }

    @Test
    void shouldTellWhatCameSinceACopyAndAddThoseOfAnotherCore() {
        live.record(10);
        LatencyCounts before = counts();
        assertThat(counts().since(before).count()).isZero();
        assertThat(counts().since(before).percentile(50).toNanos()).isZero();
        live.record(1000);
        live.record(1000);

        LatencyCounts since = counts().since(before);

        assertThat(since.count()).isEqualTo(2);
        assertThat(since.percentile(1).toNanos()).isBetween(1000L, 1063L);
        long[] sums = LiveLatencies.newSums();
        live.addTo(sums);
        live.addTo(sums);
        assertThat(new LatencyCounts(sums).count()).isEqualTo(6);
    }
}
