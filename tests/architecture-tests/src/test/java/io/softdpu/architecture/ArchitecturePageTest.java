package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of modules and packages in docs/ARCHITECTURE.md, compared with the build. */
class ArchitecturePageTest {
    private static final String PREFIX = "io.softdpu.";

    /** Heading of a section with a table of packages; names modules. */
    private static final Pattern HEADING = Pattern.compile("(?m)^### The packages of (.+)$");

    /** Import of a type, or of a member of one; the group is the package. */
    private static final Pattern IMPORT =
            Pattern.compile("(?m)^import (?:static )?io\\.softdpu\\.([a-z.]+)\\.[A-Z]");

    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

    private static final String PAGE = RepositoryFiles.read(Path.of("docs/ARCHITECTURE.md"));

    /**
     * A section with a table of packages.
     *
     * @param modules the modules of its heading
     * @param rows its rows, in their order
     */
    record Section(List<String> modules, List<Row> rows) {
        List<String> packages() {
            return rows.stream().map(Row::name).toList();
        }
    }

    /**
     * A row of a table of packages.
     *
     * @param name the package, without the name of the project
     * @param uses packages of the same module, named like it
     */
    record Row(String name, List<String> uses) {}

    static List<Section> sections() {
        return HEADING.matcher(PAGE)
                .results()
                .map(heading ->
                        new Section(
                                List.of(heading.group(1).split(", | and ")),
                                packageRows(heading.end())))
                .toList();
    }

    /** The page lists the highest layer first, the parent pom the lowest. */
    @ParameterizedTest
    @ValueSource(strings = {"applications", "libraries", "tests"})
    void shouldListTheModulesOfTheParentPom(String group) {
        assertThat(rows(0, group))
                .containsExactlyElementsOf(
                        ProjectModules.group(group).reversed().stream().map(List::of).toList());
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

        assertThat(section.packages()).containsExactlyInAnyOrderElementsOf(real);
    }

    @ParameterizedTest
    @MethodSource("sections")
    void shouldTellWhichPackagesOfItsModuleEachUses(Section section) {
        for (Row row : section.rows()) {
            assertThat(row.uses())
                    .as("used by %s", row.name())
                    .containsExactlyInAnyOrderElementsOf(used(row.name()));
        }
    }

    @ParameterizedTest
    @MethodSource("sections")
    void shouldNameEachPackageBelowThoseThatItUses(Section section) {
        List<String> packages = section.packages();
        for (Row row : section.rows()) {
            assertThat(packages.subList(0, packages.indexOf(row.name())))
                    .as("above %s", row.name())
                    .containsAll(row.uses());
        }
    }

    private static List<Row> packageRows(int from) {
        List<List<List<String>>> rows = cells(from, "package");
        return rows.stream()
                .map(cells -> {
                    String name = cells.getFirst().getFirst();
                    String prefix = prefixOf(moduleOf(name));
                    return new Row(
                            name,
                            cells.getLast().stream().map(used -> fullName(used, prefix)).toList());
                })
                .toList();
    }

    /** A name may leave out its module. */
    private static String fullName(String name, String prefix) {
        return isOf(name, prefix) ? name : prefix + "." + name;
    }

    /** The library that has a package: {@code rdma-roce} has those that begin as its name. */
    private static String moduleOf(String packageName) {
        return ProjectModules.group("libraries").stream()
                .filter(module -> isOf(packageName, prefixOf(module)))
                .max(Comparator.comparingInt(String::length))
                .orElseThrow(() -> new AssertionError("of no library: package=" + packageName));
    }

    /** The beginning of the names of a module's packages. */
    private static String prefixOf(String module) {
        return module.replace('-', '.');
    }

    private static boolean isOf(String packageName, String prefix) {
        return packageName.equals(prefix) || packageName.startsWith(prefix + ".");
    }

    /** Packages of the same module that the sources of a package import. */
    private static Set<String> used(String name) {
        String module = moduleOf(name);
        Set<String> own = packages(module);
        Path folder =
                Path.of("libraries", module, "src/main/java", PREFIX.replace('.', '/'))
                        .resolve(name.replace('.', '/'));
        return RepositoryFiles.all().stream()
                .filter(file -> folder.equals(file.getParent()))
                .flatMap(file -> IMPORT.matcher(RepositoryFiles.read(file)).results())
                .map(match -> match.group(1))
                .filter(target -> own.contains(target) && !target.equals(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The quoted names in the first column of the next table with this head. */
    private static List<List<String>> rows(int from, String head) {
        return cells(from, head).stream().map(List::getFirst).toList();
    }

    /** The quoted names in the first and last column of the next table with this head. */
    private static List<List<List<String>>> cells(int from, String head) {
        int table = PAGE.indexOf("\n| " + head + " |", from);
        assertThat(table).as("table of %s", head).isNotNegative();
        return PAGE.substring(table + 1)
                .lines()
                .skip(2)
                .takeWhile(line -> line.startsWith("| "))
                .map(line -> {
                    String[] cells = line.split(" \\|", -1);
                    return List.of(quoted(cells[0]), quoted(cells[cells.length - 2]));
                })
                .toList();
    }

    private static List<String> quoted(String cell) {
        return QUOTED.matcher(cell).results().map((MatchResult name) -> name.group(1)).toList();
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
