package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitLoopTest {

    private final List<Duration> sleeps = new ArrayList<>();

    @Test
    void shouldNotSleepWhereTheConditionHolds() {
        assertThat(WaitLoop.await(() -> true, Deadline.in(Duration.ZERO), sleeps::add)).isTrue();
        assertThat(WaitLoop.awaitResult(() -> "here", Deadline.in(Duration.ZERO), sleeps::add))
                .isEqualTo("here");
        assertThat(sleeps).isEmpty();
    }

    @Test
    void shouldLookOnceWhereThereIsNoTime() {
        List<String> looks = new ArrayList<>();

        assertThat(
                        WaitLoop.await(
                                () -> !looks.add("look"), Deadline.in(Duration.ZERO), sleeps::add))
                .isFalse();
        assertThat(
                        WaitLoop.<String>awaitResult(
                                () -> looks.add("look") ? null : "never",
                                Deadline.in(Duration.ZERO),
                                sleeps::add))
                .isNull();

        assertThat(looks).hasSize(2);
        assertThat(sleeps).isEmpty();
    }

    @Test
    void shouldSleepForWhatIsLeftUntilThereIsNews() {
        assertThat(
                        WaitLoop.await(
                                () -> sleeps.size() == 3, Deadline.in(Patience.LIMIT), sleeps::add))
                .isTrue();

        assertThat(sleeps)
                .hasSize(3)
                .allSatisfy(
                        time -> assertThat(time).isPositive().isLessThanOrEqualTo(Patience.LIMIT));
        assertThat(sleeps.get(2)).isLessThanOrEqualTo(sleeps.get(0));
    }

    @Test
    void shouldSleepWithoutLimitWhereThereIsNone() {
        String result =
                WaitLoop.awaitResult(
                        () -> sleeps.isEmpty() ? null : "came",
                        Deadline.in(Deadline.NO_LIMIT),
                        sleeps::add);

        assertThat(result).isEqualTo("came");
        assertThat(sleeps).containsExactly(Deadline.NO_LIMIT);
    }

    @Test
    void shouldEndWithWhatTheConditionThrows() {
        DpuException lost = new DpuException(Status.CONNECTION_RESET, "peer has gone");

        assertThatThrownBy(() ->
                        WaitLoop.await(
                                () -> {
                                    throw lost;
                                },
                                Deadline.in(Patience.LIMIT),
                                sleeps::add))
                .isSameAs(lost);
        assertThat(sleeps).isEmpty();
    }
}
