package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Waits without a yield after slow ones. */
class YieldBackoffTest {
    private final YieldBackoff backoff = new YieldBackoff();

    @Test
    void shouldSkipNoneBeforeASlowYield() {
        otherYields(10_000);
        assertThat(backoff.skipsYields()).isFalse();
    }

    @Test
    void shouldSkipTwiceAsManyAfterEachSlowYieldUpToALimit() {
        for (int waits = 1; waits <= 1024; waits *= 2) {
            assertThat(skippedAfterASlowYield()).isEqualTo(Math.min(waits, 256));
        }
    }

    @Test
    void shouldSkipHalfAsManyAfterManyOtherYields() {
        slowYields(5);
        otherYields(2 * YieldBackoff.HALVING_YIELDS);
        assertThat(skippedAfterASlowYield()).isEqualTo(8);
        otherYields(20 * YieldBackoff.HALVING_YIELDS);
        assertThat(skippedAfterASlowYield()).isEqualTo(1);
    }

    @Test
    void shouldCountTheOtherYieldsFromTheLastSlowOneOn() {
        slowYields(3);
        otherYields(YieldBackoff.HALVING_YIELDS - 1);
        assertThat(skippedAfterASlowYield()).isEqualTo(8);
        otherYields(YieldBackoff.HALVING_YIELDS - 1);
        assertThat(skippedAfterASlowYield()).isEqualTo(16);
    }

    private void slowYields(int count) {
        for (int i = 0; i < count; i++) {
            skippedAfterASlowYield();
        }
    }

    private void otherYields(int count) {
        for (int i = 0; i < count; i++) {
            backoff.yielded(false);
        }
    }

    private int skippedAfterASlowYield() {
        backoff.yielded(true);
        int waits = 0;
        while (backoff.skipsYields()) {
            waits++;
        }
        return waits;
    }
}
