package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Checks that docs/doca-names.md has each name of the documents and each call of public programs in
 * C, and that its entries are true.
 */
class DocaNamesTest {
    /** When fewer are planned, this is lowered; it is never raised. */
    private static final int PLANNED = 0;

    private static final String PLANNED_MARK = "planned: ";
    private static final String REFUSED_MARK = "NOT_SUPPORTED: ";
    private static final Pattern ROW = Pattern.compile("\\| `(doca_\\w+|DOCA_\\w+)` \\| (.+) \\|");

    /** Classes of the command line stand for its commands and words, which are what is used. */
    private static final String COMMANDS = "cli.";

    private static final Set<String> EXPORTED = ProjectModules.exportedPackages();
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");

    private final String page =
            ProjectModules.read(ProjectModules.ROOT.resolve("docs/doca-names.md"));
    private final Map<String, String> rows = rows();

    private Map<String, String> rows() {
        Map<String, String> found = new LinkedHashMap<>();
        page.lines()
                .map(ROW::matcher)
                .filter(row -> row.matches())
                .forEach(row ->
                        assertThat(found.put(row.group(1), row.group(2)))
                                .as("listed twice: %s", row.group(1))
                                .isNull());
        return found;
    }

    /** Names in the documents. */
    private static List<String> tokens() throws IOException {
        return linesOf("doca-tokens.txt");
    }

    /** Calls of a program with Comm Channel and DMA, of an RDMA transport, and of a benchmark. */
    private static List<String> calls() throws IOException {
        return linesOf("doca-calls.txt");
    }

    private static List<String> linesOf(String resource) throws IOException {
        try (InputStream in = DocaNamesTest.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }

    @Test
    void shouldHaveEachNameOfTheDocumentsEachCallOfTheProgramsAndNoOther() throws IOException {
        assertThat(tokens()).hasSize(213).doesNotHaveDuplicates();
        assertThat(calls()).hasSize(142).doesNotHaveDuplicates();
        Set<String> expected = new TreeSet<>(tokens());
        expected.addAll(calls());
        assertThat(rows.keySet()).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** A row of its own, whether the call is written as cc or as comch in the documents. */
    @Test
    void shouldNameWhatMostCallsOfTheProgramsAreHere() throws IOException {
        List<String> answered =
                calls().stream()
                        .filter(call ->
                                !rows.getOrDefault(call, PLANNED_MARK).startsWith(PLANNED_MARK))
                        .toList();
        assertThat(answered.size() * 100).isGreaterThanOrEqualTo(calls().size() * 95);
    }

    @Test
    void shouldPlanNoMoreThanBefore() {
        List<String> planned =
                rows.entrySet().stream()
                        .filter(row -> row.getValue().startsWith(PLANNED_MARK))
                        .map(Map.Entry::getKey)
                        .toList();
        assertThat(planned)
                .as("more is a step back; with fewer, lower the number here")
                .hasSize(PLANNED);
    }

    @Test
    void shouldCountWhatItLists() {
        long refused = rows.values().stream().filter(to -> to.startsWith(REFUSED_MARK)).count();
        assertThat(page)
                .endsWith(
                        Text.format(
                                "%d names, %d of them planned, %d not supported.\n",
                                rows.size(), PLANNED, refused));
    }

    @TestFactory
    Stream<DynamicTest> shouldNameOnlyWhatThereIs() {
        return rows.entrySet().stream()
                .map(row -> DynamicTest.dynamicTest(row.getKey(), () -> check(row.getValue())));
    }

    private static void check(String to) {
        if (to.startsWith(PLANNED_MARK) || to.startsWith(REFUSED_MARK)) {
            assertThat(to.substring(to.indexOf(' '))).as("a reason").isNotBlank();
            return;
        }
        List<String> names =
                NAME.matcher(to).results().map((MatchResult name) -> name.group(1)).toList();
        assertThat(names).as(to).isNotEmpty();
        assertThat(names).allSatisfy(name -> assertThat(whyNot(name)).isEmpty());
    }

    /** Why a name of the page stands for nothing; empty if it stands for something. */
    private static Optional<String> whyNot(String name) {
        int hash = name.indexOf('#');
        String type = hash < 0 ? name : name.substring(0, hash);
        if (!ProjectModules.classes().contain("io.softdpu." + type)) {
            return Optional.of("no such class: " + name);
        }
        JavaClass found = ProjectModules.classes().get("io.softdpu." + type);
        if (!type.startsWith(COMMANDS)
                && (!found.getModifiers().contains(JavaModifier.PUBLIC)
                        || !EXPORTED.contains(found.getPackageName()))) {
            return Optional.of("no class that a program can name: " + name);
        }
        return hash < 0 || hasMember(found, name.substring(hash + 1))
                ? Optional.empty()
                : Optional.of(type + " has no public member of that name: " + name);
    }

    private static boolean hasMember(JavaClass type, String name) {
        return Stream.concat(type.getAllMethods().stream(), type.getAllFields().stream())
                .filter(member -> member.getModifiers().contains(JavaModifier.PUBLIC))
                .anyMatch(member -> member.getName().equals(name));
    }

    @Test
    void shouldNoticeANameThatStandsForNothing() {
        assertThat(whyNot("core.Status#SUCCESS")).isEmpty();
        assertThat(whyNot("core.Status#SUCCES"))
                .hasValueSatisfying(why -> assertThat(why).contains("no public member"));
        assertThat(whyNot("core.Stratus"))
                .hasValueSatisfying(why -> assertThat(why).contains("no such class"));
        assertThat(whyNot("core.internal.engine.EngineImpl"))
                .hasValueSatisfying(why -> assertThat(why).contains("a program can name"));
        assertThat(whyNot("core.spi.ContextBase"))
                .hasValueSatisfying(why -> assertThat(why).contains("a program can name"));
    }
}
