package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.initiator.RecordedLatencies;
import io.softdpu.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests of {@link DataPathProgress} on a terminal. */
class DataPathProgressTest {
    private static final String CLEAR = "\r\u001b[K";

    private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
    private final PrintStream terminal = new PrintStream(screen, true, StandardCharsets.UTF_8);
    private final AtomicLong operations = new AtomicLong();

    private String shown() {
        return screen.toString(StandardCharsets.UTF_8);
    }

    /** Lines that were shown, the last one perhaps not complete. */
    private List<String> lines() {
        return Stream.of(shown().split(Pattern.quote(CLEAR)))
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private DataPathProgress progress(String role) {
        return new DataPathProgress(() -> report(role), null, Duration.ofMillis(1), terminal);
    }

    /** A thousand more operations of 1 MiB with each call, one of which fails. */
    private SessionReport report(String role) {
        long count = operations.addAndGet(1000);
        return new SessionReport(
                role,
                Status.SUCCESS,
                "",
                List.of(
                        new WorkerReport(
                                0,
                                "any",
                                count,
                                count,
                                0,
                                count / 1000,
                                count << 20,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                Duration.ZERO,
                                "",
                                0,
                                RdmaCounters.NONE)),
                0,
                0);
    }

    @Test
    void shouldRewriteOneLineInTheDataPathAndRemoveIt() {
        try (PeerWait wait = new PeerWait(true, terminal, 1000)) {
            wait.showProgress(progress("target"));
            wait.step(SessionStep.START, "");
            assertThat(shown()).isEmpty();

            wait.step(SessionStep.DATA_PATH, "");
            Await.until("two lines", () -> shown().split(" failed", -1).length > 2);

            wait.step(SessionStep.STOP, "");
            String last = shown();
            assertThat(last).endsWith(" failed" + CLEAR).doesNotContain("\n");
            assertThat(lines())
                    .allMatch(line ->
                            line.matches(
                                    "[\\d.]+ s: [\\d.]+( k)? ops [\\d.]+( [kMG])?/s"
                                            + " [\\d.]+ GB/s \\d+ failed"));
            assertThat(operations.get()).isGreaterThan(2000);
        }
    }

    /** Each line has 98 new operations of 10 us and two of 1 ms. */
    @Test
    void shouldShowThePercentilesSinceTheLineBefore() {
        RecordedLatencies latencies = new RecordedLatencies();
        latencies.record(Duration.ofSeconds(1), 1000);
        DataPathProgress progress =
                new DataPathProgress(
                        () -> report("initiator"),
                        () -> {
                            latencies.record(Duration.ofNanos(10_000), 98);
                            latencies.record(Duration.ofMillis(1), 2);
                            return latencies.counts();
                        },
                        Duration.ofMillis(1),
                        terminal);
        try (progress) {
            progress.begin();
            Await.until("two lines", () -> lines().size() > 2);
        }
        // Both are rounded up to the end of their class.
        assertThat(lines().subList(0, 2))
                .allMatch(line ->
                        line.matches(
                                "[\\d.]+ s: [\\d.]+ k ops [\\d.]+( [kMG])?/s [\\d.]+ GB/s"
                                        + " \\d+ failed p50 10.24 us p99 1.016 ms"));
    }

    @Test
    void shouldNotSayOfAServiceWhatItDoesNotLookAt() {
        try (DataPathProgress progress = progress("zero-copy")) {
            progress.begin();
            Await.until("a line", () -> shown().contains("/s"));
        }
        assertThat(shown()).doesNotContain("GB/s").doesNotContain("failed").doesNotContain("p50");
    }
}
