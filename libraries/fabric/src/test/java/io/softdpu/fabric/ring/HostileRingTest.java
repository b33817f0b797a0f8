package io.softdpu.fabric.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rings with arbitrary content: each side decodes exactly as the wire format says, or refuses it
 * with a named violation, and accesses nothing outside.
 */
@StartsProcesses
class HostileRingTest {
    @TempDir Path folder;

    /** One word of one ring as one half sees it; from a line of the program. */
    private record Line(
            String ring, String field, String effect, int writes, int hits, String errors) {
        static Line parse(String line) {
            String[] parts = line.split(";", -1);
            return new Line(
                    parts[1],
                    parts[2],
                    parts[3],
                    Integer.parseInt(parts[4]),
                    Integer.parseInt(parts[5]),
                    parts[6]);
        }

        String key() {
            return (ring + "/" + field).replace(' ', '-');
        }

        /** Without commas, which part the findings. */
        @Override
        public String toString() {
            String named = errors.substring(1, errors.length() - 1).replace(", ", "+");
            return key()
                    + "="
                    + (effect.equals("IGNORED") ? "ignored:" + writes : "hits:" + hits)
                    + (named.isEmpty() ? "" : ":" + named.replace(' ', '-').replace('=', ':'));
        }
    }

    @Tag(Soak.TAG)
    @Test
    void shouldDecodeEveryValueOfEveryFieldAsDocumentedOrRefuseItByName(SeededRandom random) {
        int mutations = Soak.count(20_000, 20_000, 1_000_000);
        long begin = System.nanoTime();
        List<String> output = run("" + random.seed(), "" + mutations);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);

        assertThat(output).last().isEqualTo("done " + mutations);
        List<Line> lines =
                output.stream().filter(line -> line.startsWith("field;")).map(Line::parse).toList();
        assertThat(lines.stream().mapToInt(Line::writes).sum()).isEqualTo(mutations);
        for (Line line : lines) {
            assertThat(line.writes()).as("mutations of %s", line).isGreaterThan(100);
            switch (line.effect()) {
                case "IGNORED" -> assertThat(line.hits()).as("%s", line).isZero();
                case "USED" -> assertThat(line.hits()).as("%s", line).isPositive();
                default -> {
                    assertThat(line.hits()).as("%s", line).isPositive();
                    assertThat(line.errors()).as("%s is refused by name", line).isNotEqualTo("{}");
                }
            }
        }
        assertThat(lines.stream().filter(line -> line.effect().equals("CHECKED")).map(Line::key))
                .containsExactlyInAnyOrder(
                        "message-receiver/slot-length",
                        "message-sender/consumed",
                        "fast-path-receiver/slot-length",
                        "fast-path-receiver/slot-immediate-length",
                        "fast-path-receiver/slot-flags",
                        "fast-path-sender/posted",
                        "fast-path-sender/status",
                        "fast-path-sender/posting-capacity");
        assertThat(lines.stream().filter(line -> line.effect().equals("USED")).map(Line::key))
                .containsExactlyInAnyOrder(
                        "message-receiver/peer-armed",
                        "message-receiver/slot-stamp",
                        "message-receiver/slot-type",
                        "message-receiver/slot-word",
                        "message-receiver/slot-payload",
                        "message-sender/owner-armed",
                        "message-sender/status",
                        "fast-path-receiver/slot-stamp",
                        "fast-path-receiver/slot-producer-id",
                        "fast-path-receiver/slot-data",
                        "fast-path-receiver/slot-immediate",
                        "fast-path-sender/owner-armed",
                        "fast-path-sender/posting-offset");
        assertNamed(lines, "fast-path-sender/posting-capacity", "TOO_LARGE", "posting capacity");
        assertNamed(lines, "fast-path-sender/status", "CLOSING");
        assertNamed(lines, "fast-path-receiver/slot-flags", "slot flags");
        List<String> findings = new ArrayList<>();
        findings.add("mutations=" + mutations);
        lines.forEach(line -> findings.add(line.toString()));
        Soak.report("hostile-ring-decoder", random.seed(), took, String.join(", ", findings));
    }

    @Test
    void shouldEndTheProcessThatTouchesAGuardPage() {
        try (Processes processes = new Processes()) {
            ChildProcess child = processes.start(command("touch"));
            assertThat(child.awaitExit()).isNotZero();
            assertThat(child.outputLines())
                    .contains("in bounds: -59")
                    .anyMatch(line -> line.contains("SIGSEGV"));
            assertThat(child.outputLines()).noneMatch(line -> line.startsWith("survived"));
        }
    }

    private static void assertNamed(List<Line> lines, String key, String... names) {
        Line found = lines.stream().filter(line -> line.key().equals(key)).findAny().orElseThrow();
        for (String name : names) {
            assertThat(found.errors()).contains(name + "=");
        }
    }

    private List<String> run(String... arguments) {
        try (Processes processes = new Processes()) {
            ChildProcess child = processes.start(command(arguments));
            int status = child.awaitExit();
            assertThat(status)
                    .as(
                            "exit status; output=%s, errors=%s",
                            child.outputLines(), child.errorLines())
                    .isZero();
            return child.outputLines();
        }
    }

    private JavaCommand command(String... arguments) {
        return JavaCommand.ofClass(RingMutator.class)
                .withJvmOptions(
                        "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("error"))
                .withArguments(arguments);
    }
}
