package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.rdma.spi.RnrTimer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Steps of the RNR timer, as in the table of the InfiniBand specification. */
class RnrTimerTest {
    @ParameterizedTest
    @CsvSource({"0, 655360", "1, 10", "7, 120", "13, 960", "14, 1280", "24, 40960", "31, 491520"})
    void shouldHaveTheDurationOfEachCode(int code, long micros) {
        assertThat(new RnrTimer(code).nanos()).isEqualTo(micros * 1000);
    }

    @Test
    void shouldGrowFromCodeToCode() {
        for (int code = 2; code < 32; code++) {
            assertThat(new RnrTimer(code).nanos()).isGreaterThan(new RnrTimer(code - 1).nanos());
        }
        assertThat(RnrTimer.LONGEST.nanos()).isGreaterThan(new RnrTimer(31).nanos());
    }

    @Test
    void shouldRoundUpToTheNextStep() {
        for (int code = 0; code < 32; code++) {
            RnrTimer step = new RnrTimer(code);
            assertThat(RnrTimer.atLeast(step.nanos())).isEqualTo(step);
            assertThat(RnrTimer.atLeast(step.nanos() - 1)).isEqualTo(step);
        }
        assertThat(RnrTimer.atLeast(1)).isEqualTo(new RnrTimer(1));
        assertThat(RnrTimer.atLeast(491_520_001)).isEqualTo(RnrTimer.LONGEST);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 32, Integer.MAX_VALUE})
    void shouldRefuseOtherCodes(int code) {
        assertThat(RnrTimer.isCode(code)).isFalse();
        assertThatThrownBy(() -> new RnrTimer(code)).hasMessageContaining("code=" + code);
    }
}
