package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class HiccupMeterTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    @StartsProcesses
    void shouldSeeThatItsProcessStoodStill(Processes processes) throws IOException {
        ChildProcess measured = processes.start(JavaCommand.ofClass(Measured.class));
        measured.awaitLine("^begun$");
        measured.freeze();
        long frozen = System.nanoTime();
        // Long enough to be told from what a loaded machine does by itself.
        Await.until(
                "half a second is over", () -> System.nanoTime() - frozen > SECOND.toNanos() / 2);
        measured.thaw();

        measured.standardInput().close();

        String line = measured.awaitLine("^longest ");
        assertThat(Long.parseLong(line.substring("longest ".length())))
                .isGreaterThan(SECOND.toNanos() / 4);
    }

    @Test
    void shouldLeaveNoThreadBehind() {
        new HiccupMeter().close();

        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals("testkit-hiccups"));
    }

    /** Measures until its input ends. */
    static final class Measured {
        private Measured() {}

        public static void main(String[] arguments) throws IOException {
            try (HiccupMeter meter = new HiccupMeter()) {
                System.out.println("begun");
                int end = System.in.read();
                System.out.println("longest " + meter.longestNanos());
                System.out.println("end " + end);
            }
        }
    }
}
