package io.softdpu.block.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.linux.Errno;
import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.LogCapture;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Statuses of failed system calls, and the lines of the log on them. */
class DeviceFailuresTest {
    private final FakeClock clock = new FakeClock();
    private final DeviceFailures failures = new DeviceFailures("test:1", clock);

    @ParameterizedTest
    @CsvSource({
        "28, FULL",
        "122, FULL",
        "27, FULL",
        "30, NOT_PERMITTED",
        "1, NOT_PERMITTED",
        "5, IO_FAILED",
        "22, IO_FAILED",
        "12, IO_FAILED",
        "13, IO_FAILED"
    })
    void shouldGiveTheStatusOfAnErrno(int errno, Status status) {
        assertThat(failures.report(BlockOperation.WRITE, errno, 0)).isEqualTo(status);
    }

    @Test
    void shouldCallEveryFailureOfAFlushALoss() {
        for (int errno : new int[] {Errno.ENOSPC, Errno.EPERM, Errno.EIO}) {
            assertThat(failures.report(BlockOperation.FLUSH, errno, 0)).isEqualTo(Status.IO_FAILED);
        }
    }

    @Test
    void shouldLogTheFirstOfAKindAndThenOneLinePerSecond() {
        try (LogCapture log = new LogCapture(DeviceFailures.class.getName())) {
            failures.report(BlockOperation.WRITE, Errno.ENOSPC, 512);
            for (int i = 1; i <= 9; i++) {
                failures.report(BlockOperation.WRITE, Errno.ENOSPC, 512L * i);
            }
            assertThat(log.with("block device")).hasSize(1);
            assertThat(
                            log.with(
                                    "blockDevice=test:1, operation=WRITE, errno=ENOSPC,"
                                            + " offsetBytes=512, status=FULL"))
                    .hasSize(1);

            clock.advance(Duration.ofSeconds(1));
            failures.report(BlockOperation.WRITE, Errno.ENOSPC, 4096);
            failures.report(BlockOperation.WRITE, Errno.ENOSPC, 8192);
            assertThat(log.with("count=10, lastOffsetBytes=4096")).hasSize(1);
            assertThat(log.with("block device")).hasSize(2);
        }
    }

    @Test
    void shouldCountEachKindForItself() {
        try (LogCapture log = new LogCapture(DeviceFailures.class.getName())) {
            failures.report(BlockOperation.WRITE, Errno.EIO, 0);
            failures.report(BlockOperation.READ, Errno.EIO, 0);
            failures.report(BlockOperation.WRITE, Errno.ENOSPC, 0);
            failures.report(BlockOperation.READ, Errno.EIO, 0);
            assertThat(log.with("errno=EIO")).hasSize(2);
            assertThat(log.with("errno=ENOSPC")).hasSize(1);
        }
    }

    @Test
    void shouldLogWhatIsLeftAtTheEnd() {
        try (LogCapture log = new LogCapture(DeviceFailures.class.getName())) {
            failures.report(BlockOperation.FLUSH, Errno.EIO, 0);
            failures.close();
            assertThat(log.with("block device")).hasSize(1);
            failures.report(BlockOperation.FLUSH, Errno.EIO, 0);
            failures.close();
            assertThat(log.with("operation=FLUSH, errno=EIO, count=1")).hasSize(1);
        }
    }
}
