package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

class CpuMeterTest {
    private static final long WORK_NANOS = 30_000_000;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final CpuMeter meter = new CpuMeter();

    @Test
    void shouldMeasureTheLongestPieceOfWork() {
        meter.begin();
        long longest = work(WORK_NANOS);
        meter.next();
        work(WORK_NANOS / 10);
        meter.end();

        assertThat(meter.longestNanos()).isGreaterThanOrEqualTo(longest);
    }

    @Test
    void shouldLeaveOutWhatIsBetweenTwoPieces() {
        meter.end();
        work(WORK_NANOS);
        long before = threads.getCurrentThreadCpuTime();
        meter.begin();
        meter.end();

        assertThat(meter.longestNanos()).isBetween(0L, threads.getCurrentThreadCpuTime() - before);
    }

    @Test
    void shouldNotAddPiecesUp() {
        long before = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < 3; i++) {
            meter.next();
            work(WORK_NANOS);
        }
        meter.end();
        long all = threads.getCurrentThreadCpuTime() - before;

        assertThat(meter.longestNanos()).isBetween(WORK_NANOS, all - 2 * WORK_NANOS);
    }

    /** Needs at least so much of a processor; returns how much it was. */
    private long work(long cpuNanos) {
        long begin = threads.getCurrentThreadCpuTime();
        long took = 0;
        while (took < cpuNanos) {
            took = threads.getCurrentThreadCpuTime() - begin;
        }
        return took;
    }
}
