package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The programs of docs/getting-started.md stay as short as a reader can take in. */
class GettingStartedTest {
    private static final Pattern NO_CODE =
            Pattern.compile("\\s*(|//.*|/?\\*.*|(package|import) .*)");

    @ParameterizedTest
    @CsvSource({
        "RequestResponse, 50",
        "FastPath, 70",
        "KeyValue, 120",
        "RdmaWrite, 80",
        "DmaEvent, 45",
        "HashGraph, 65",
        "Blocks, 65"
    })
    void shouldKeepItsProgramsShort(String program, int limit) {
        Path file =
                Path.of("outside/getting-started/src/main/java/gettingstarted", program + ".java");
        List<String> code =
                RepositoryFiles.read(file)
                        .lines()
                        .filter(line -> !NO_CODE.matcher(line).matches())
                        .toList();

        assertThat(code).hasSizeBetween(20, limit);
        assertThat(RepositoryFiles.read(Path.of("docs/getting-started.md")))
                .contains("<!-- file: " + file + " -->");
    }
}
