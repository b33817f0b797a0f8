package io.softdpu.topology.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.HostileText;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Escaping of text of a topology file, in exceptions. */
class ForeignTextTest {
    private static final String GOOD = TopologyJson.toJson(Topology.builtin());
    private static final String VALUE = quoted(HostileText.LONG);

    /** The parser itself takes no longer name of a field. */
    private static final String KEY = quoted(49_000);

    static Stream<Arguments> texts() {
        return Stream.of(
                        "key=" + replaced("\"name\"", KEY),
                        "key of a function=" + replaced("\"side\"", KEY),
                        "name=" + replaced("\"name\" *: *\"[^\"]*\"", "\"name\": " + VALUE),
                        "version="
                                + replaced(
                                        "\"softdpu_topology\" *: *1",
                                        "\"softdpu_topology\": " + VALUE),
                        "functions="
                                + "{\"softdpu_topology\": 1, \"name\": \"n\", \"functions\": "
                                + VALUE
                                + "}",
                        "limits=" + replaced("\"side\"", "\"limits\": {" + KEY + ": 1}, \"side\""),
                        ofField("side"),
                        ofField("interface_name"),
                        ofField("function_type"),
                        ofField("pci_address"),
                        ofField("ipv4"),
                        ofField("mac"),
                        ofField("vuid"))
                .map(text ->
                        Arguments.of(
                                text.substring(0, text.indexOf('=')),
                                text.substring(text.indexOf('=') + 1)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("texts")
    void shouldShowTheContentEscapedAndCut(String place, String text) {
        DpuException failure =
                catchThrowableOfType(
                        DpuException.class, () -> TopologyJson.parse("file.json", text));

        assertThat(failure.status()).isEqualTo(Status.BAD_CONFIG);
        HostileText.requireHarmless(failure.getMessage());
        for (Throwable one = failure; one != null; one = one.getCause()) {
            assertThat(one.getMessage()).hasSizeLessThan(1500);
        }
    }

    @Test
    void shouldRefuseANameThatDoesNotShow() {
        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () ->
                                TopologyJson.parse(
                                        "file.json",
                                        replaced(
                                                "\"name\" *: *\"[^\"]*\"",
                                                "\"name\": \"turned \u202e round\"")));

        assertThat(failure).hasMessageContaining("value=turned \\u202e round, expected=1 to 64");
    }

    @Test
    void shouldShowAPathThatTheUserTypedEscapedAndWhole() {
        String typed = HostileText.of(200).replace('\0', 'x') + "/" + "b".repeat(200);

        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> TopologyJson.read(Path.of(typed)));

        HostileText.requireOneLine(failure.getMessage());
        assertThat(failure.getMessage()).contains("b".repeat(200));
    }

    private static String ofField(String field) {
        return field
                + "="
                + replaced("\"" + field + "\" *: *\"[^\"]*\"", "\"" + field + "\": " + VALUE);
    }

    private static String replaced(String pattern, String replacement) {
        String changed =
                GOOD.replaceFirst(pattern, java.util.regex.Matcher.quoteReplacement(replacement));
        assertThat(changed).isNotEqualTo(GOOD);
        return changed;
    }

    private static String quoted(int characters) {
        return "\""
                + new String(
                        JsonStringEncoder.getInstance().quoteAsString(HostileText.of(characters)))
                + "\"";
    }
}
