package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Polls between yields, by the time that these take. */
class YieldIntervalTest {
    private final YieldInterval interval = new YieldInterval();

    @Test
    void shouldDoubleThePollsWhileYieldsAreIdle() {
        assertThat(interval.polls()).isEqualTo(32);
        assertThat(pollsAfter(700)).isEqualTo(64);
        assertThat(pollsAfter(1400)).isEqualTo(128);
        assertThat(pollsAfter(900)).isEqualTo(256);
        assertThat(pollsAfter(700)).isEqualTo(256);
    }

    @Test
    void shouldBeginAgainAfterAYieldInWhichAnotherThreadRan() {
        for (int i = 0; i < 10; i++) {
            interval.yielded(700);
        }
        assertThat(pollsAfter(1401)).isEqualTo(32);
        assertThat(pollsAfter(1_000_000)).isEqualTo(32);
        assertThat(pollsAfter(700)).isEqualTo(64);
    }

    /** A thread that has shared its processor from the start, and then has it for itself. */
    @Test
    void shouldMeasureByTheShortestYieldEver() {
        assertThat(pollsAfter(3_000)).isEqualTo(64);
        assertThat(pollsAfter(700)).isEqualTo(128);
        for (int i = 0; i < 100_000; i++) {
            assertThat(pollsAfter(3_000)).isEqualTo(32);
        }
    }

    /** A coarse clock, or one that is set back. */
    @Test
    void shouldNotMeasureByYieldsThatCannotBeSoShort() {
        interval.yielded(0);
        interval.yielded(-5);
        assertThat(pollsAfter(500)).isEqualTo(256);
        assertThat(pollsAfter(501)).isEqualTo(32);
    }

    private int pollsAfter(long yieldNanos) {
        interval.yielded(yieldNanos);
        return interval.polls();
    }
}
