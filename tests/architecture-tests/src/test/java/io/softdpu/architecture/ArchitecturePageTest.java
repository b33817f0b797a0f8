package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables of modules and packages in docs/ARCHITECTURE.md, compared with the build. */
class ArchitecturePageTest {
    private static final String PREFIX = "io.softdpu.";

    /** Heading of a section with a table of packages; names modules. */
    private static final Pattern HEADING = Pattern.compile("(?m)^### The packages of (.+)$");

    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

    private static final String PAGE = RepositoryFiles.read(Path.of("docs/ARCHITECTURE.md"));

    /**
     * A section with a table of packages.
     *
     * @param modules the modules of its heading
     * @param rows the first cells of its rows: names of packages
     */
    record Section(List<String> modules, List<List<String>> rows) {}

    static List<Section> sections() {
        return HEADING.matcher(PAGE)
                .results()
                .map(heading ->
                        new Section(
                                List.of(heading.group(1).split(", | and ")),
                                rows(heading.end(), "package")))
                .toList();
    }

    /** The page lists the highest layer first, the parent pom the lowest. */
    @ParameterizedTest
    @CsvSource({"applications,''", "libraries,''", "tests,outside"})
    void shouldListTheModulesOfTheParentPom(String group, String noModule) {
        List<String> expected = new ArrayList<>(ProjectModules.group(group).reversed());
        if (!noModule.isEmpty()) {
            expected.add(noModule);
        }

        assertThat(rows(0, group))
                .containsExactlyElementsOf(expected.stream().map(List::of).toList());
    }

    @Test
    void shouldHaveATableForEachLibraryWithSeveralPackages() {
        assertThat(sections().stream().flatMap(section -> section.modules().stream()))
                .containsExactlyInAnyOrderElementsOf(
                        ProjectModules.group("libraries").stream()
                                .filter(module -> packages(module).size() > 1)
                                .toList());
    }

    @ParameterizedTest
    @MethodSource("sections")
    void shouldListThePackagesOfTheModules(Section section) {
        Set<String> real =
                section.modules().stream()
                        .flatMap(module -> packages(module).stream())
                        .collect(Collectors.toCollection(TreeSet::new));

        assertThat(section.rows().stream().flatMap(row -> fullNames(row).stream()))
                .containsExactlyInAnyOrderElementsOf(real);
    }

    /** Later names of a row may leave out the module of the first. */
    private static List<String> fullNames(List<String> row) {
        String first = row.getFirst();
        String module = first.replaceFirst("\\..*", "");
        return row.stream()
                .map(name ->
                        name.equals(module) || name.startsWith(module + ".")
                                ? name
                                : module + "." + name)
                .toList();
    }

    /** The quoted names in the first column of the next table with this head. */
    private static List<List<String>> rows(int from, String head) {
        int table = PAGE.indexOf("\n| " + head + " |", from);
        assertThat(table).as("table of %s", head).isNotNegative();
        return PAGE.substring(table + 1)
                .lines()
                .skip(2)
                .takeWhile(line -> line.startsWith("| "))
                .map(line ->
                        QUOTED.matcher(line.split(" \\| ", 2)[0])
                                .results()
                                .map((MatchResult name) -> name.group(1))
                                .toList())
                .toList();
    }

    /** Names of the packages of a module, without that of the project. */
    private static Set<String> packages(String module) {
        return ProjectModules.classes().stream()
                .filter(type -> ProjectModules.module(type).equals(module))
                .map(JavaClass::getPackageName)
                .filter(name -> name.startsWith(PREFIX))
                .map(name -> name.substring(PREFIX.length()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
