package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DeadlineTest {
    private static final long HOUR_NANOS = 3_600_000_000_000L;

    @Test
    void shouldLeaveWhatIsLeftOfATimeout() {
        Deadline deadline = Deadline.in(HOUR_NANOS);

        assertThat(deadline.remainingNanos()).isPositive().isLessThanOrEqualTo(HOUR_NANOS);
        assertThat(deadline.hasPassed()).isFalse();
        assertThatCode(() -> deadline.check("an hour")).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldHavePassedAtOnceWithoutATimeout(long timeoutNanos) {
        Deadline deadline = Deadline.in(timeoutNanos);

        assertThat(deadline.remainingNanos()).isZero();
        assertThat(deadline.hasPassed()).isTrue();
        assertThatThrownBy(() -> deadline.check("the start"))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                .hasMessageContaining("awaited=the start, timeoutNanos=0");
    }

    @Test
    void shouldNeverPassWhereThereIsNone() {
        Deadline never = Deadline.in(Deadline.NO_TIMEOUT);

        assertThat(never.remainingNanos()).isEqualTo(Deadline.NO_TIMEOUT);
        assertThat(never.hasPassed()).isFalse();
        assertThatCode(() -> never.check("nothing")).doesNotThrowAnyException();
    }
}
