package io.softdpu.storage.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Waits of a control thread. */
class ControlLoopTest {
    private final List<String> done = new ArrayList<>();
    private final ControlLoop loop =
            new ControlLoop("target", _ -> done.add("sleep"), () -> done.add("check"));

    @Test
    void shouldLookAfterWorkersAndPeersBeforeEachSleep() {
        loop.awaitUntil("waiting", Long.MAX_VALUE, () -> done.size() == 4);

        assertThat(done).containsExactly("check", "sleep", "check", "sleep");
    }

    @Test
    void shouldDoNothingWhereTheConditionHolds() {
        loop.awaitUntil("waiting", 0, () -> true);

        assertThat(loop.awaitAnyway(0, () -> true)).isTrue();
        assertThat(done).isEmpty();
    }

    /** The awaited event has occurred already, so nothing would end the sleep. */
    @Test
    void shouldNotSleepWhereTheCheckHasSeenWhatItWaitsFor() {
        loop.awaitUntil("waiting", Long.MAX_VALUE, () -> done.contains("check"));

        assertThat(done).containsExactly("check");
    }

    @Test
    void shouldSayWhatDidNotComeAboutInTime() {
        assertThatThrownBy(() ->
                        loop.awaitUntil(
                                "starting the contexts", 0, () -> false, () -> ", notRunning=a"))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                .hasMessage(
                        "starting the contexts took too long: role=target, waitedMillis=0,"
                                + " notRunning=a");
        assertThat(done).as("a failure is a better reason than the time").containsExactly("check");
    }

    @Test
    void shouldEndWithTheFailureThatItFinds() {
        DpuException failure = new DpuException(Status.CONNECTION_RESET, "peer has gone");
        ControlLoop failing =
                new ControlLoop(
                        "target",
                        _ -> done.add("sleep"),
                        () -> {
                            throw failure;
                        });

        assertThatThrownBy(() -> failing.awaitUntil("waiting", Long.MAX_VALUE, () -> false))
                .isSameAs(failure);
        assertThat(failing.awaitAnyway(Long.MAX_VALUE, () -> done.size() == 2))
                .as("where all is taken down nobody is looked after")
                .isTrue();
        assertThat(failing.awaitAnyway(0, () -> false)).isFalse();
    }
}
