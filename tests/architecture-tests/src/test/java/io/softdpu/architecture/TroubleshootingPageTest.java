package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Table of the statuses in docs/troubleshooting.md, compared with the enum and its uses. */
class TroubleshootingPageTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([A-Z_]+) \\| (.*) \\|$");
    private static final String UNUSED = "not used by softdpu";
    private static final String PAGE = RepositoryFiles.read(Path.of("docs/troubleshooting.md"));

    private final String libraries = mainCodeOfLibraries();

    private static String mainCodeOfLibraries() {
        List<Path> files =
                RepositoryFiles.all().stream()
                        .filter(file -> file.startsWith("libraries"))
                        .filter(file -> file.toString().matches(".*/src/main/.*\\.java"))
                        .filter(file -> !file.endsWith("Status.java"))
                        .toList();
        assertThat(files).hasSizeGreaterThan(100);
        return String.join("\n", files.stream().map(RepositoryFiles::read).toList());
    }

    @Test
    void shouldHaveARowForEachStatusInTheirOrder() {
        assertThat(ROW.matcher(PAGE).results().map(row -> row.group(1)))
                .containsExactlyElementsOf(
                        Arrays.stream(Status.values()).map(Status::name).toList());
    }

    @ParameterizedTest
    @EnumSource(Status.class)
    void shouldCallAStatusUnusedIfNoLibraryUsesIt(Status status) {
        String row =
                ROW.matcher(PAGE)
                        .results()
                        .filter(found -> found.group(1).equals(status.name()))
                        .findFirst()
                        .orElseThrow()
                        .group(2);
        boolean used = Pattern.compile("\\bStatus\\." + status + "\\b").matcher(libraries).find();

        assertThat(row.contains(UNUSED)).as(row).isEqualTo(!used);
    }
}
