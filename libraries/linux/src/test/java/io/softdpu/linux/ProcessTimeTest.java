package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.softdpu.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests of the processor time of this process. */
class ProcessTimeTest {
    private static final long JDK_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    @Test
    void shouldAgreeWithTheJdkWhoseStepsAreCoarser() {
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

        long jdkBefore = system.getProcessCpuTime();
        long found = ProcessTime.nanos();
        long jdkAfter = system.getProcessCpuTime();

        assertThat(found).isBetween(jdkBefore - JDK_STEP_NANOS, jdkAfter + 2 * JDK_STEP_NANOS);
    }

    @Test
    void shouldGrowWhileThisThreadWorksInStepsBelowTheJdks() {
        long begin = System.nanoTime();
        long least = Long.MAX_VALUE;
        long before = ProcessTime.nanos();
        while (least >= JDK_STEP_NANOS && System.nanoTime() - begin < Patience.DEADLINE.toNanos()) {
            long after = ProcessTime.nanos();
            if (after != before) {
                least = Math.min(least, after - before);
                before = after;
            }
        }

        assertThat(least).isPositive().isLessThan(JDK_STEP_NANOS);
    }
}
