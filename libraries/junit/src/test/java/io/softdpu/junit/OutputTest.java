package io.softdpu.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Patience;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Memory for what a process prints: its amount is the choice of that process. */
class OutputTest {
    private static Output read(InputStream stream) {
        Output output = new Output(stream, "test");
        output.awaitEnd(Patience.LIMIT);
        assertThat(output.hasEnded()).isTrue();
        return output;
    }

    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String numbers(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "line " + i + "\n")
                .collect(Collectors.joining());
    }

    @Test
    void shouldKeepAllLinesUpToTheLimitAndThenTheLast() {
        assertThat(read(stream(numbers(Output.MAX_LINES))).lines())
                .hasSize(Output.MAX_LINES)
                .startsWith("line 0");

        List<String> lines = read(stream(numbers(3 * Output.MAX_LINES + 5))).lines();

        assertThat(lines)
                .hasSize(Output.MAX_LINES)
                .startsWith("line " + (2 * Output.MAX_LINES + 5))
                .endsWith("line " + (3 * Output.MAX_LINES + 4));
    }

    @Test
    void shouldWaitWithTheLongestOfDurations() throws IOException {
        PipedInputStream in = new PipedInputStream();
        try (PipedOutputStream open = new PipedOutputStream(in)) {
            Output output = new Output(in, "test");
            Thread.currentThread().interrupt(); // ends the wait, and nothing else does
            assertThatThrownBy(
                            () -> output.awaitNext(_ -> false, Duration.ofSeconds(Long.MAX_VALUE)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("interrupted while waiting");
        } finally {
            Thread.interrupted();
        }
    }

    @Test
    void shouldKeepNoMoreCharactersThanItsLimit() {
        String line = "x".repeat(Output.MAX_LINE_CHARACTERS) + "\n";

        List<String> lines = read(stream(line.repeat(1500) + "the last\n")).lines();

        assertThat(lines.stream().mapToInt(String::length).sum())
                .isLessThanOrEqualTo(Output.MAX_CHARACTERS)
                .isGreaterThan(Output.MAX_CHARACTERS - 2 * line.length());
        assertThat(lines).endsWith("the last");
    }

    @Test
    void shouldCutALongLine() {
        String line = "x".repeat(Output.MAX_LINE_CHARACTERS);

        assertThat(read(stream(line + "yy\nshort\n")).lines())
                .containsExactly(line + "…(+2 more)", "short");
    }

    @Test
    void shouldAwaitEachLineOnceAndPassOverThoseThatAreGone() throws IOException {
        PipedInputStream in = new PipedInputStream();
        try (PipedOutputStream out = new PipedOutputStream(in)) {
            Output output = new Output(in, "test");
            out.write("line 0\nline 1\n".getBytes(StandardCharsets.UTF_8));
            out.flush();
            assertThat(output.awaitNext("line 0"::equals, Patience.LIMIT)).isEqualTo("line 0");

            out.write(numbers(Output.MAX_LINES).getBytes(StandardCharsets.UTF_8));
            out.write("sentinel\n".getBytes(StandardCharsets.UTF_8));
            out.close();
            output.awaitEnd(Patience.LIMIT);

            assertThat(output.awaitNext(_ -> true, Patience.LIMIT)).isEqualTo("line 1");
            assertThat(output.awaitNext("sentinel"::equals, Patience.LIMIT)).isNotNull();
            assertThat(output.awaitNext(_ -> true, Patience.LIMIT)).isNull();
        }
    }
}
