package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class FakeClockTest {

    private final FakeClock clock = new FakeClock();

    @Test
    void shouldStandStillUntilItIsMoved() {
        long start = clock.nowNanos();

        assertThat(clock.getAsLong()).isEqualTo(start);
        clock.advance(Duration.ofMillis(3));
        clock.advanceNanos(1);
        assertThat(clock.nowNanos() - start).isEqualTo(3_000_001);
    }

    @Test
    void shouldShowAComparisonThatForgetsTheOverflow() {
        long start = clock.nowNanos();
        clock.advance(Duration.ofSeconds(2));

        assertThat(clock.nowNanos() < start).isTrue();
        assertThat(clock.nowNanos() - start).isEqualTo(2_000_000_000);
    }

    @Test
    void shouldNotRunBackwards() {
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advanceNanos(-1));
    }
}
