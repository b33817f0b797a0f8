package io.softdpu.storage.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.testkit.Await;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SilenceWatchTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final long HOUR = 3_600_000_000_000L;

    @Test
    void shouldCallSilentWhoGivesNoNewSignForTheWholeTime() {
        SilenceWatch watch = new SilenceWatch(20_000_000);

        Await.until("silence", DEADLINE, () -> watch.isTooLong(7));

        assertThat(watch.remainingNanos()).isZero();
        // A new sign, even a late one, begins a new time.
        assertThat(new SilenceWatch(HOUR).isTooLong(8)).isFalse();
        watch.isTooLong(8);
        assertThat(watch.remainingNanos()).isLessThanOrEqualTo(20_000_000);
    }

    @Test
    void shouldWaitForEverWhereThatIsWanted() {
        assertThat(new SilenceWatch(ControlChannel.NO_TIMEOUT).isTooLong(0)).isFalse();
    }

    @Test
    void shouldAllowMoreForALargeStorageUpToADay() {
        assertThat(StorageDefaults.silenceNanos(2, 100, 0)).isEqualTo(200);
        assertThat(StorageDefaults.silenceNanos(3, 100, 1 << 30)).isEqualTo(300 + (20L << 30));
        assertThat(
                        StorageDefaults.silenceNanos(
                                3, StorageDefaults.MAX_CONTROL_TIMEOUT_NANOS, Long.MAX_VALUE))
                .as("a day for the storage at most")
                .isEqualTo(
                        3 * StorageDefaults.MAX_CONTROL_TIMEOUT_NANOS + TimeUnit.DAYS.toNanos(1));
    }
}
