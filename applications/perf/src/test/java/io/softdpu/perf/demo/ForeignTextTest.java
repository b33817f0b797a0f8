package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.HostileText;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text that the processes of a demo write to standard error, as their parent shows it. */
class ForeignTextTest {
    @TempDir Path folder;

    /** With the prefix it is an error line, without it a line of the log. */
    @ParameterizedTest
    @ValueSource(strings = {"softdpu: IO_FAILED: ", "12:00:00.000 INFO target: "})
    @StartsProcesses
    void shouldShowLinesOfAChildEscapedAndCut(String prefix) throws Exception {
        Path words = folder.resolve("words");
        // A line of its own is one for the parent too.
        String oneLine =
                HostileText.of(HostileText.LONG)
                        .replace("\n", "")
                        .replace("\r", "")
                        .replace("\0", "");
        Files.writeString(words, prefix + oneLine + "\nend\n", StandardCharsets.UTF_8);
        LinkedBlockingQueue<ChildProcess.Event> events = new LinkedBlockingQueue<>();
        ChildProcess child =
                ChildProcess.start(
                        "child",
                        List.of("sh", "-c", "cat '" + words + "' >&2; exit 1"),
                        List.of("SOFTDPU_UNUSED", "x"),
                        folder.resolve("report"),
                        events::add);

        List<String> shown = new ArrayList<>();
        ChildProcess.Event event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
        while (!(event instanceof ChildProcess.Event.Exited)) {
            assertThat(event).isInstanceOf(ChildProcess.Event.Log.class);
            shown.add(((ChildProcess.Event.Log) event).text());
            event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
        }
        shown.addAll(child.complaint());

        assertThat(shown).filteredOn(line -> line.startsWith(prefix)).isNotEmpty();
        assertThat(shown)
                .allSatisfy(line ->
                        assertThat(line)
                                .hasSizeLessThanOrEqualTo(4096)
                                .doesNotContainPattern("[\\p{Cntrl}\\p{Cf}\u2028\u2029]"));
        assertThat(shown.getFirst()).contains("evil\\u001b[2Jsoftdpu: OK\\u2028");
    }

    /** A line of 4 MiB, on each stream: the kept part says how much there was. */
    @Test
    @StartsProcesses
    void shouldKeepABoundedPartOfALineThatHasHardlyAnEnd() throws Exception {
        String flood = "head -c 4194304 /dev/zero | tr '\\0' x; echo; echo next";
        LinkedBlockingQueue<ChildProcess.Event> events = new LinkedBlockingQueue<>();
        ChildProcess.start(
                "child",
                List.of("sh", "-c", "{ " + flood + "; } >&2; " + flood),
                List.of("SOFTDPU_UNUSED", "x"),
                folder.resolve("report"),
                events::add);

        List<String> output = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        ChildProcess.Event event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
        while (!(event instanceof ChildProcess.Event.Exited)) {
            switch (event) {
                case ChildProcess.Event.Line line -> output.add(line.text());
                case ChildProcess.Event.Log log -> errors.add(log.text());
                case null, default -> throw new AssertionError("no event: " + event);
            }
            event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
        }

        for (List<String> lines : List.of(output, errors)) {
            assertThat(lines).hasSize(2).last().isEqualTo("next");
            assertThat(lines.getFirst()).startsWith("xxxx").hasSizeLessThan(2 * 4096);
        }
        assertThat(output.getFirst()).endsWith(" more)");
    }
}
