package io.softdpu.storage.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.storage.StorageDefaults;
import io.softdpu.testkit.Await;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class InactivityTimerTest {
    private static final long HOUR = 3_600_000_000_000L;

    @Test
    void shouldExpireWhereNoActivityIsSeenForTheWholeTime() {
        InactivityTimer timer = new InactivityTimer(20_000_000);

        Await.until("inactivity", () -> timer.hasExpired(7));

        assertThat(timer.remainingNanos()).isZero();
        // New activity, even late, restarts the time.
        assertThat(new InactivityTimer(HOUR).hasExpired(8)).isFalse();
        timer.hasExpired(8);
        assertThat(timer.remainingNanos()).isLessThanOrEqualTo(20_000_000);
    }

    @Test
    void shouldNeverExpireWithoutALimit() {
        assertThat(new InactivityTimer(Long.MAX_VALUE).hasExpired(0)).isFalse();
    }

    @Test
    void shouldAllowMoreForALargeStorageUpToADay() {
        assertThat(StorageDefaults.inactivity(2, Duration.ofNanos(100), 0))
                .isEqualTo(Duration.ofNanos(200));
        assertThat(StorageDefaults.inactivity(3, Duration.ofNanos(100), 1 << 30))
                .isEqualTo(Duration.ofNanos(300 + (20L << 30)));
        assertThat(
                        StorageDefaults.inactivity(
                                3, StorageDefaults.MAX_CONTROL_TIMEOUT, Long.MAX_VALUE))
                .as("a day for the storage at most")
                .isEqualTo(StorageDefaults.MAX_CONTROL_TIMEOUT.multipliedBy(3).plusDays(1));
    }
}
