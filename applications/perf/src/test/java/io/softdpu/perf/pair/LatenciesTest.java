package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests of percentiles and maximum of latencies. */
class LatenciesTest {
    @Test
    void shouldFindTheExactMaximumWhichNoPercentileExceeds() {
        Latencies latencies = new Latencies();
        for (long nanos = 1; nanos <= 1_000_003; nanos += 1000) {
            latencies.record(nanos);
        }
        latencies.record(1_000_003);

        Percentiles found = Objects.requireNonNull(latencies.percentiles());

        assertThat(found.maxNanos()).isEqualTo(1_000_003);
        assertThat(found.p50Nanos()).isBetween(495_000L, 505_000L);
        assertThat(found.p999Nanos()).isBetween(found.p99Nanos(), found.maxNanos());
    }

    @Test
    void shouldHaveNoValuesAfterAReset() {
        Latencies latencies = new Latencies();
        latencies.record(5000);
        latencies.reset();

        assertThat(latencies.percentiles()).isNull();
        latencies.record(7);
        assertThat(latencies.percentiles()).isEqualTo(new Percentiles(7, 7, 7, 7));
    }

    @Test
    void shouldAddTheValuesOfAnother() {
        Latencies all = new Latencies();
        all.record(10);
        Latencies other = new Latencies();
        other.record(30);
        other.record(20);

        all.add(other);

        assertThat(all.percentiles()).isEqualTo(new Percentiles(20, 30, 30, 30));
    }
}
