package io.softdpu.perf.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class TextStyleTest {
    private static final Map<String, String> XTERM = Map.of("TERM", "xterm");

    @Test
    void shouldColourResultsOnATerminal() {
        TextStyle style = TextStyle.of(true, XTERM);

        assertThat(style.good("x")).isEqualTo("\u001b[32mx\u001b[0m");
        assertThat(style.bad("x")).isEqualTo("\u001b[31mx\u001b[0m");
        assertThat(style.notable("x")).isEqualTo("\u001b[33mx\u001b[0m");
        assertThat(TextStyle.of(true, Map.of("NO_COLOR", "")).good("x"))
                .as("an empty variable declines nothing")
                .isNotEqualTo("x");
    }

    @Test
    void shouldNotColourElsewhereOrWhereTheUserDeclines() {
        assertThat(TextStyle.of(false, XTERM).good("x")).isEqualTo("x");
        assertThat(TextStyle.of(true, Map.of("TERM", "dumb")).bad("x")).isEqualTo("x");
        assertThat(TextStyle.of(true, Map.of("NO_COLOR", "1", "TERM", "xterm")).good("x"))
                .isEqualTo("x");
        assertThat(TextStyle.plain().notable("x")).isEqualTo("x");
    }
}
