package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WaitLoopTest {
    private static final long LONG = TimeUnit.MINUTES.toNanos(10);

    private final List<Long> sleeps = new ArrayList<>();

    @Test
    void shouldNotSleepWhereTheConditionHolds() {
        assertThat(WaitLoop.await(() -> true, Deadline.in(0), sleeps::add)).isTrue();
        assertThat(WaitLoop.awaitResult(() -> "here", Deadline.in(0), sleeps::add))
                .isEqualTo("here");
        assertThat(sleeps).isEmpty();
    }

    @Test
    void shouldLookOnceWhereThereIsNoTime() {
        List<String> looks = new ArrayList<>();

        assertThat(WaitLoop.await(() -> !looks.add("look"), Deadline.in(0), sleeps::add)).isFalse();
        assertThat(
                        WaitLoop.<String>awaitResult(
                                () -> looks.add("look") ? null : "never",
                                Deadline.in(0),
                                sleeps::add))
                .isNull();

        assertThat(looks).hasSize(2);
        assertThat(sleeps).isEmpty();
    }

    @Test
    void shouldSleepForWhatIsLeftUntilThereIsNews() {
        assertThat(WaitLoop.await(() -> sleeps.size() == 3, Deadline.in(LONG), sleeps::add))
                .isTrue();

        assertThat(sleeps).hasSize(3).allSatisfy(nanos -> assertThat(nanos).isBetween(1L, LONG));
        assertThat(sleeps.get(2)).isLessThanOrEqualTo(sleeps.get(0));
    }

    @Test
    void shouldSleepWithoutLimitWhereThereIsNone() {
        String result =
                WaitLoop.awaitResult(
                        () -> sleeps.isEmpty() ? null : "came",
                        Deadline.in(ControlChannel.NO_TIMEOUT),
                        sleeps::add);

        assertThat(result).isEqualTo("came");
        assertThat(sleeps).containsExactly(ControlChannel.NO_TIMEOUT);
    }

    @Test
    void shouldEndWithWhatTheConditionThrows() {
        DpuException lost = new DpuException(Status.CONNECTION_RESET, "peer has gone");

        assertThatThrownBy(() ->
                        WaitLoop.await(
                                () -> {
                                    throw lost;
                                },
                                Deadline.in(LONG),
                                sleeps::add))
                .isSameAs(lost);
        assertThat(sleeps).isEmpty();
    }
}
