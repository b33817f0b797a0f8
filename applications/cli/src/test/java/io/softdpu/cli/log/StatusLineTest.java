package io.softdpu.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests of {@link StatusLine}. */
class StatusLineTest {
    private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8);
    private final StatusLine line = new StatusLine();

    @Test
    void shouldPrintLinesAboveTheStatus() {
        line.println(out, "before");
        line.show(out, "waiting: 1 s");
        line.println(out, "log");
        line.show(out, "waiting: 2 s");
        line.clear(out);
        line.clear(out);
        line.println(out, "after");

        assertThat(screen.toString(StandardCharsets.UTF_8))
                .isEqualTo(
                        """
                        before
                        \r\u001b[Kwaiting: 1 s\r\u001b[Klog
                        waiting: 1 s\r\u001b[Kwaiting: 2 s\r\u001b[Kafter
                        """);
    }
}
