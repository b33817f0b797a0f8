package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests of the request to a measuring thread to stop. */
class StopSignTest {
    private static final long NEVER = TimeUnit.DAYS.toNanos(1);

    private final AtomicInteger unblocked = new AtomicInteger();

    @Test
    void shouldInterruptAWaitAfterTheTimeLimit() {
        try (StopSign stop = new StopSign(1_000_000, unblocked::incrementAndGet)) {
            assertThatThrownBy(
                            () -> new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(InterruptedException.class);
            assertThatThrownBy(stop::check)
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                    .hasMessageContaining("measurement takes too long: waitedMillis=1");
        }
        assertThat(unblocked).hasValue(1);
    }

    @Test
    void shouldKeepTheFirstReasonAndClearTheInterruptAtItsEnd() {
        DpuException first = new DpuException(Status.CONNECTION_RESET, "first");
        try (StopSign stop = new StopSign(NEVER, unblocked::incrementAndGet)) {
            stop.check();
            assertThat(stop.reason()).isNull();
            stop.raise(first);
            stop.raise(new DpuException(Status.TIME_OUT, "second"));
            assertThat(stop.reason()).isSameAs(first);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        }
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(unblocked).hasValue(1);
    }

    @Test
    void shouldNotInterruptAfterItsEnd() {
        StopSign stop = new StopSign(NEVER, unblocked::incrementAndGet);
        stop.close();
        stop.raise(new DpuException(Status.CONNECTION_RESET, "late"));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(stop.reason()).isNull();
        assertThat(unblocked).hasValue(0);
    }
}
