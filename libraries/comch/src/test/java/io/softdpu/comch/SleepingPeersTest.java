package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processor time of connected processes without traffic. */
@StartsProcesses
class SleepingPeersTest {
    private static final Duration MEASURED =
            Soak.duration(Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(5));

    /** A twenty-fifth of what one thread takes that never sleeps, in ticks of 10 ms. */
    private static final long MOST_TICKS = 4 * MEASURED.toSeconds();

    /** A tenth of the wake-ups of a thread that polls every 25 ms. */
    private static final long MOST_WAKEUPS = 4 * MEASURED.toSeconds();

    /** Threads of this project that live as long as a machine. */
    private static final List<String> THREADS = List.of("softdpu-bus", "softdpu-mapper");

    // Of proc_pid_stat(5), counted from the state, which follows the name in parentheses.
    private static final int USER_FIELD = 11;
    private static final int SYSTEM_FIELD = 12;

    /** Ticks of all threads, and of those of the program and of this project with their sleeps. */
    private record Use(long processTicks, long ticks, long wakeups, int threads) {
        static Use of(Sleeper sleeper) {
            Path proc = Path.of("/proc/" + sleeper.process.pid());
            long ticks = 0;
            long wakeups = 0;
            int threads = 0;
            for (Path task : tasks(proc)) {
                String name = ProcessView.text(task.resolve("comm")).strip();
                if (name.startsWith("softdpu")
                        || task.getFileName().toString().equals(sleeper.thread)) {
                    threads++;
                    ticks += ticks(task);
                    wakeups += wakeups(task);
                }
            }
            return new Use(ticks(proc), ticks, wakeups, threads);
        }

        Use since(Use before) {
            return new Use(
                    processTicks - before.processTicks,
                    ticks - before.ticks,
                    wakeups - before.wakeups,
                    threads);
        }

        private static List<Path> tasks(Path proc) {
            try (Stream<Path> tasks = Files.list(proc.resolve("task"))) {
                return tasks.toList();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private static long ticks(Path of) {
            String stat = ProcessView.text(of.resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[USER_FIELD]) + Long.parseLong(fields[SYSTEM_FIELD]);
        }

        private static long wakeups(Path task) {
            return ProcessView.text(task.resolve("status"))
                    .lines()
                    .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        }
    }

    /** A process, the id of the thread of its engine, and how that waits. */
    private record Sleeper(ChildProcess process, String thread, String name) {}

    @TempDir private Path folder;

    /** Programs that wait for the event handle, and others that wait by await, at the same time. */
    @Tag(Soak.TAG)
    @Test
    void shouldUseNoProcessorWithoutTraffic(Processes processes) {
        List<Sleeper> sleepers = new ArrayList<>();
        for (String wait : new String[] {SleepingPeer.EVENT, "await"}) {
            List<ChildProcess> both = new ArrayList<>();
            for (Side side : new Side[] {Side.DPU, Side.HOST}) {
                both.add(
                        processes.start(
                                JavaCommand.ofClass(SleepingPeer.class)
                                        .withArguments(
                                                side.name(),
                                                folder.resolve(wait).toString(),
                                                wait)));
            }
            for (ChildProcess process : both) {
                String line = process.awaitLine("^asleep \\d+$");
                sleepers.add(
                        new Sleeper(
                                process,
                                line.substring(line.indexOf(' ') + 1),
                                wait + both.indexOf(process)));
            }
        }
        for (Sleeper sleeper : sleepers) {
            Await.until(
                    "threads without work end",
                    () ->
                            sleeper.process.view().threadNames().stream()
                                    .filter(name -> name.startsWith("softdpu"))
                                    .toList()
                                    .equals(THREADS));
        }
        List<Use> before = sleepers.stream().map(Use::of).toList();
        assertThat(
                        Await.holdsWithin(
                                MEASURED,
                                () -> sleepers.stream().anyMatch(one -> !one.process.isAlive())))
                .as("one has ended")
                .isFalse();
        for (int i = 0; i < before.size(); i++) {
            Sleeper sleeper = sleepers.get(i);
            Use use = Use.of(sleeper).since(before.get(i));
            System.out.printf(
                    Locale.ROOT,
                    "asleep for %d s: program=%s, processTicks=%d, ticks=%d, wakeups=%d,"
                            + " threads=%d%n",
                    MEASURED.toSeconds(),
                    sleeper.name,
                    use.processTicks,
                    use.ticks,
                    use.wakeups,
                    use.threads);
            assertThat(use.threads).as("with the program's").isEqualTo(THREADS.size() + 1);
            assertThat(use.wakeups).isLessThanOrEqualTo(MOST_WAKEUPS);
            assertThat(use.processTicks).isLessThanOrEqualTo(MOST_TICKS);
        }
    }
}
