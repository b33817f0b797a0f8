package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class DeadlineTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void shouldLeaveWhatIsLeftOfATimeout() {
        Deadline deadline = Deadline.in(HOUR);

        assertThat(deadline.remaining()).isPositive().isLessThanOrEqualTo(HOUR);
        assertThat(deadline.hasPassed()).isFalse();
        assertThatCode(() -> deadline.check("an hour")).doesNotThrowAnyException();
    }

    @Test
    void shouldHavePassedAtOnceWithoutATimeout() {
        Deadline deadline = Deadline.in(Duration.ZERO);

        assertThat(deadline.remaining()).isZero();
        assertThat(deadline.hasPassed()).isTrue();
        assertThatThrownBy(() -> deadline.check("the start"))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                .hasMessageContaining("awaited=the start, timeoutNanos=0");
    }

    @Test
    void shouldRefuseANegativeTimeoutAlsoOneBeyondALong() {
        Thrown.with(Status.INVALID_VALUE, () -> Deadline.in(Duration.ofNanos(-1)));
        Thrown.with(Status.INVALID_VALUE, () -> Deadline.in(Duration.ofSeconds(Long.MIN_VALUE)));
    }

    static Stream<Deadline> endless() {
        return Stream.of(
                Deadline.never(),
                Deadline.in(Deadline.NO_LIMIT),
                Deadline.in(ChronoUnit.FOREVER.getDuration()),
                Deadline.in(Duration.ofNanos(Long.MAX_VALUE)),
                Deadline.in(Duration.ofDays(300 * 365)));
    }

    @ParameterizedTest
    @MethodSource("endless")
    void shouldNeverPassWhereThereIsNone(Deadline never) {
        assertThat(never.remaining()).isSameAs(Deadline.NO_LIMIT);
        assertThat(never.hasPassed()).isFalse();
        assertThatCode(() -> never.check("nothing")).doesNotThrowAnyException();
    }
}
