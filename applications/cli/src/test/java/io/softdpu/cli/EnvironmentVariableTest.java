package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests of the list of environment variables, against the page and the sources. */
class EnvironmentVariableTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final Pattern NAME = Pattern.compile("\\bSOFTDPU_[A-Z_]+\\b");

    @Test
    void shouldBeTheTableOfThePage() throws IOException {
        List<String> expected =
                Arrays.stream(EnvironmentVariable.values())
                        .map(one ->
                                Text.format("| `%s` | %s | %s |", one, one.readBy(), one.meaning()))
                        .toList();
        assertThat(Files.readAllLines(ROOT.resolve("docs/environment.md")))
                .filteredOn(line -> line.startsWith("| `"))
                .isEqualTo(expected);
    }

    @Test
    void shouldHaveEachVariableThatTheSourcesName() throws IOException {
        Set<String> named = new TreeSet<>();
        for (String folder : List.of("applications", "libraries")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
                for (Path file : files.filter(EnvironmentVariableTest::isProductSource).toList()) {
                    collect(file, named);
                }
            }
        }
        collect(ROOT.resolve("softdpu"), named);
        assertThat(named)
                .isNotEmpty()
                .isSubsetOf(Arrays.stream(EnvironmentVariable.values()).map(Enum::name).toList());
    }

    private static boolean isProductSource(Path file) {
        String path = file.toString();
        return path.contains("/src/main/") && (path.endsWith(".java") || path.contains("/sh/"));
    }

    private static void collect(Path file, Set<String> named) throws IOException {
        if (Files.isRegularFile(file)) {
            NAME.matcher(Files.readString(file))
                    .results()
                    .map(MatchResult::group)
                    .forEach(named::add);
        }
    }
}
