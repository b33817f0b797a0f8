package io.softdpu.linux.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of texts of the user: used as they were given, or refused. */
class GivenTextTest {
    private static final GivenText UTF_8 = in("UTF-8", Map.of("LC_ALL", "C.UTF-8"));
    private static final GivenText ASCII = in("ANSI_X3.4-1968", Map.of());

    private static GivenText in(String encoding, Map<String, String> environment) {
        return new GivenText(encoding, environment, "/work");
    }

    private static String text(GivenText given, String text) {
        return given.checked("option=--text", text, IllegalArgumentException::new);
    }

    private static Path path(GivenText given, String text) {
        return given.pathOf("option=--file", text, IllegalArgumentException::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "~ \t", "/tmp/disk.img"})
    void shouldTakeAsciiInEveryLocale(String given) {
        for (String encoding : new String[] {"UTF-8", "ANSI_X3.4-1968", "ISO-8859-1", "unknown"}) {
            assertThat(text(in(encoding, Map.of()), given)).isEqualTo(given);
            assertThat(path(in(encoding, Map.of()), given)).isEqualTo(Path.of(given));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Grüße", "文", "\ud83d\ude80", "e\u0301"})
    void shouldTakeTextBeyondAsciiOnlyByUtf8(String given) {
        assertThat(text(UTF_8, given)).isEqualTo(given);
        for (String encoding : new String[] {"ANSI_X3.4-1968", "ISO-8859-1", "unknown"}) {
            GivenText other = in(encoding, Map.of());
            assertThatThrownBy(() -> text(other, given))
                    .hasMessageStartingWith("text cannot be represented: option=--text, value=")
                    .hasMessageContaining("encoding=" + encoding);
            assertThatThrownBy(() -> path(other, given))
                    .hasMessageStartingWith("path cannot be represented: option=--file, value=");
        }
    }

    /** U+FFFD is there for a byte that was lost. */
    @Test
    void shouldRefuseWhatTheJvmCouldNotDecode() {
        assertThatThrownBy(() -> text(ASCII, "Gr\ufffd\ufffde"))
                .hasMessage(
                        "text cannot be represented: option=--text, value=Gr??e, locale=none,"
                                + " encoding=ANSI_X3.4-1968, expected=ASCII, or a locale with UTF-8"
                                + " such as C.UTF-8");
        assertThatThrownBy(() -> path(UTF_8, "/tmp/\ufffd.img"))
                .hasMessage(
                        "path cannot be represented: option=--file, value=/tmp/?.img,"
                                + " locale=LC_ALL=C.UTF-8, encoding=UTF-8, expected=UTF-8 without"
                                + " U+FFFD");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\ud800", "a\udc00b"})
    void shouldRefuseHalfACharacter(String given) {
        assertThatThrownBy(() -> text(UTF_8, given)).hasMessageContaining("value=");
        assertThatThrownBy(() -> path(UTF_8, given)).hasMessageContaining("cannot be represented");
    }

    @Test
    void shouldRefuseWhatIsNoPath() {
        assertThatThrownBy(() -> path(UTF_8, "a\0b"))
                .hasMessage(
                        "not a path: option=--file, value=a\\u0000b, expected=the path of a file or"
                                + " folder");
    }

    @Test
    void shouldRefuseARelativePathBelowAFolderThatTheJvmCouldNotDecode() {
        GivenText lost = new GivenText("UTF-8", Map.of(), "/tmp/\ufffd");

        assertThat(path(lost, "/tmp/a")).isEqualTo(Path.of("/tmp/a"));
        assertThatThrownBy(() -> path(lost, "a"))
                .hasMessageStartingWith(
                        "path below the working directory cannot be represented: option=--file,"
                                + " value=a, workingDirectory=/tmp/?, locale=none");
    }

    @ParameterizedTest
    @CsvSource({
        "C, de_DE, en_US, LC_ALL=C",
        "'', de_DE, en_US, LC_CTYPE=de_DE",
        "'', '', x, LANG=x"
    })
    void shouldNameTheVariableThatHasChosenTheLocale(
            String all, String type, String language, String named) {
        GivenText given =
                in("ISO-8859-1", Map.of("LC_ALL", all, "LC_CTYPE", type, "LANG", language));

        assertThatThrownBy(() -> text(given, "ü")).hasMessageContaining("locale=" + named + ",");
    }
}
