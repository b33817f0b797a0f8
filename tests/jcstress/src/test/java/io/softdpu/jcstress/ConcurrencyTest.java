package io.softdpu.jcstress;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the tests of this module under jcstress: forbidden outcomes do not occur, and the full
 * fences are needed, since without them such outcomes occur.
 *
 * <p>jcstress takes no seed: its schedules are those of the machine.
 */
@StartsProcesses
@Tag(Soak.TAG)
class ConcurrencyTest {
    private static final String UNFENCED = ".*\\.Unfenced.*";

    /** Every pair of compilers for the two actors in the long form; in the short one for both. */
    private static final Stress.Effort EFFORT =
            Soak.isLong()
                    ? new Stress.Effort(1, Duration.ofMillis(700), true)
                    : new Stress.Effort(1, Duration.ofMillis(800), false);

    @TempDir Path folder;

    @BeforeEach
    void needTwoProcessors() {
        if (Runtime.getRuntime().availableProcessors() < 2) {
            skip("two threads meet on two processors only: processors=1");
        }
    }

    private static void skip(String reason) {
        System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
        Assumptions.abort(reason);
    }

    @Test
    void shouldNeverSeeWhatIsForbidden(Processes processes) throws Exception {
        long begin = System.nanoTime();
        Set<String> expected = new TreeSet<>(Stress.tests());
        expected.removeIf(name -> name.matches(UNFENCED));
        Stress stress = Stress.run(processes, folder, expected, EFFORT);
        Soak.report(
                "jcstress",
                0,
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "tests=%d, samples=%d, forbidden=%d, interesting=%d",
                        stress.byTest().size(),
                        stress.samples(),
                        stress.forbidden(),
                        stress.interesting()));

        assertThat(stress.complaints()).isEmpty();
        assertThat(stress.byTest().keySet()).as("tests that ran").isEqualTo(expected);
        assertThat(expected).as("tests that there are").hasSizeGreaterThan(10);
    }

    /**
     * Each of the two fences of each of the five sleeps, and that of a batch of packets, taken out
     * of the product's bytecode, and a driver of a NIC that does not look at its note. A lost
     * wake-up, batch or request needs two threads that run at the same moment, which a busy machine
     * may not grant within the deadline: then the fences are named, and only the long form fails.
     */
    @Test
    void shouldLoseWakeUpsWithoutTheFence(Processes processes) throws Exception {
        long begin = System.nanoTime();
        Set<String> needed = new TreeSet<>(Stress.tests());
        needed.removeIf(name -> !name.matches(UNFENCED));
        assertThat(needed).hasSize(12);
        Set<String> unseen = new TreeSet<>(needed);
        long samples = 0;
        long lost = 0;
        int runs = 0;
        while (!unseen.isEmpty() && System.nanoTime() - begin < Patience.DEADLINE.toNanos()) {
            // Longer each time: on a busy machine two threads seldom run at the same moment.
            Duration iteration = Duration.ofMillis(400L << Math.min(runs, 5));
            Path own = Files.createDirectory(folder.resolve("run-" + runs++));
            Stress stress =
                    Stress.run(processes, own, unseen, new Stress.Effort(1, iteration, false));
            assertThat(stress.complaints()).isEmpty();
            assertThat(stress.byTest().keySet()).isEqualTo(unseen);
            samples += stress.samples();
            lost += stress.interesting();
            unseen.removeIf(name -> stress.byTest().get(name).interesting > 0);
        }
        Soak.report(
                "jcstress-unfenced",
                0,
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "tests=%d, runs=%d, samples=%d, lost=%d, notSeen=%d",
                        needed.size(), runs, samples, lost, unseen.size()));

        if (!unseen.isEmpty() && (lost == 0 || !Soak.isLong())) {
            skip("no wake-up was lost: samples=" + samples + ", without=" + unseen);
        }
        assertThat(unseen).as("fences and looks without which nothing was lost").isEmpty();
    }
}
