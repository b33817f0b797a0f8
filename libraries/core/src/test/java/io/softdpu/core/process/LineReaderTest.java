package io.softdpu.core.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.testkit.SeededRandom;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {
    private static final int MAX = 8;

    private static List<String> lines(Reader from) throws IOException {
        List<String> lines = new ArrayList<>();
        try (LineReader reader = new LineReader(from, MAX)) {
            for (String line = reader.next(); line != null; line = reader.next()) {
                lines.add(line);
            }
        }
        return lines;
    }

    /** The text in pieces of one to three characters, as a pipe may give them. */
    private static Reader pieces(String text, SeededRandom random) {
        return new StringReader(text) {
            @Override
            public int read(char[] into, int offset, int length) throws IOException {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(3)));
            }
        };
    }

    @Test
    void shouldReadShortLinesAsABufferedReader(SeededRandom random) throws IOException {
        String characters = "ab\n\r";
        for (int round = 0; round < 1000; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(MAX); i >= 0; i--) {
                text.append(characters.charAt(random.nextInt(characters.length())));
            }
            assertThat(lines(pieces(text.toString(), random)))
                    .as("%s", text)
                    .isEqualTo(
                            new BufferedReader(new StringReader(text.toString())).lines().toList());
        }
    }

    @Test
    void shouldCutALongLineAndSayHowMuchIsMissing() throws IOException {
        assertThat(lines(new StringReader("12345678\n123456789\r\n\n1234567890123456789012")))
                .containsExactly("12345678", "12345678…(+1 more)", "", "12345678…(+14 more)");
    }

    @Test
    void shouldNotCutACharacterInTwo() throws IOException {
        assertThat(lines(new StringReader("1234567\uD83D\uDE00\n12345678\uD83D\uDE00")))
                .containsExactly("1234567…(+2 more)", "12345678…(+2 more)");
    }

    /** A stream of one character that ends after many. */
    private static Reader endless(String unit, long count) {
        return new Reader() {
            private long left = count;

            @Override
            public int read(char[] into, int offset, int length) {
                if (left < length) {
                    return -1;
                }
                left -= length;
                for (int i = 0; i < length; i++) {
                    into[offset + i] = unit.charAt(i % unit.length());
                }
                return length;
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void shouldKeepNoMoreOfAnEndlessLineThanItsLimit() throws IOException {
        long characters = 1 << 24;
        ThreadMXBean thread = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        long before = thread.getCurrentThreadAllocatedBytes();
        try (LineReader reader = new LineReader(endless("x", characters), MAX)) {
            assertThat(reader.next()).isEqualTo("xxxxxxxx…(+" + (characters - MAX) + " more)");
            assertThat(reader.next()).isNull();
        }
        assertThat(thread.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
    }

    @Test
    void shouldReadLineAfterLineOfAnEndlessStream() throws IOException {
        int count = 1 << 20;
        int lines = 0;
        try (LineReader reader = new LineReader(endless("abc\n", 4L * count), MAX)) {
            for (String line = reader.next(); line != null; line = reader.next()) {
                assertThat(line.equals("abc")).isTrue();
                lines++;
            }
        }
        assertThat(lines).isEqualTo(count);
    }
}
