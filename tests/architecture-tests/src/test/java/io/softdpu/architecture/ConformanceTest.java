package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.BuildFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConformanceTest {

    private static final List<String> CLAUSES =
            List.of(
                    "id\tlines\tarea\tkind\tclause",
                    "b-1\t1\tsecond\trule\tA | B.",
                    "a-1\t1\tfirst\trule\tPasses twice.",
                    "a-2\t2\tfirst\tapi\tIs refused.",
                    "a-3\t3\tfirst\tapi\tFails once.",
                    "a-4\t4\tfirst\tapi\tWas skipped.",
                    "a-5\t5\tfirst\tapi\tWas skipped once and passed once.",
                    "a-6\t6\tfirst\tnote\tIs stated.",
                    "a-7\t7\tfirst\tnote\tIs stated nowhere.",
                    "a-8\t8\tfirst\tnote\tIs claimed by a test.");

    private static final List<String> RESULTS =
            List.of(
                    "a-1\tx.y.OneTest#shouldB\tpassed\t",
                    "a-1\tx.y.OneTest#shouldA\tpassed\t",
                    "a-2\tx.y.OneTest#shouldRefuse\tpassed\tno hardware: adr/0099",
                    "a-3\tx.y.OneTest#shouldA\tpassed\t",
                    "a-3\tx.y.TwoTest#shouldFail\tfailed\t",
                    "a-4\tx.y.TwoTest#shouldSkip\tskipped\t",
                    "a-5\tx.y.TwoTest#shouldSkip\tskipped\t",
                    "a-5\tx.y.TwoTest#shouldPass\tpassed\t",
                    "a-8\tx.y.TwoTest#shouldPass\tpassed\t",
                    "z-9\tx.y.TwoTest#shouldPass\tpassed\t");

    private static final List<String> NOTES =
            List.of(
                    "| a-7 | not in the section |",
                    "## Notes of the guides",
                    "| clause | states |",
                    "|---|---|",
                    "| a-6 | this |",
                    "| a-8 | that |",
                    "| a-5 | what is no note |",
                    "## Next",
                    "| a-7 | not in the section either |");

    private static final String COUNTS =
            """
            | first | 8 | 2 | 1 | 2 | 3 |
            | second | 1 | 0 | 0 | 0 | 1 |
            | **all** | 9 | 2 | 1 | 2 | 4 |
            """;

    @Test
    void shouldReportEachClauseWithItsTests() {
        Conformance conformance = new Conformance(CLAUSES, RESULTS, NOTES);

        assertThat(conformance.toReport())
                .contains(
                        COUNTS
                                + """

                                ## first

                                | id | clause | state |
                                |---|---|---|
                                | a-1 | Passes twice. | passed: `OneTest#shouldA`, `OneTest#shouldB` |
                                | a-2 | Is refused. | refused: no hardware: adr/0099 (`OneTest#shouldRefuse`) |
                                | a-3 | Fails once. | FAILED |
                                | a-4 | Was skipped. | missing |
                                | a-5 | Was skipped once and passed once. | passed: `TwoTest#shouldPass` |
                                | a-6 | Is stated. | note: [fidelity.md](fidelity.md#notes-of-the-guides) |
                                | a-7 | Is stated nowhere. | missing |
                                | a-8 | Is claimed by a test. | note: [fidelity.md](fidelity.md#notes-of-the-guides) |

                                ## second

                                | id | clause | state |
                                |---|---|---|
                                | b-1 | A \\| B. | missing |
                                """);
        assertThat(conformance.unknown()).containsExactly("z-9 in x.y.TwoTest#shouldPass");
        assertThat(conformance.failed()).containsExactly("x.y.TwoTest#shouldFail");
        assertThat(conformance.skipped()).containsExactly("x.y.TwoTest#shouldSkip");
    }

    @Test
    void shouldSummarizeByCountsAndTheClausesThatAreNotPassed() {
        assertThat(new Conformance(CLAUSES, RESULTS, NOTES).toSummary())
                .contains(
                        COUNTS
                                + """

                                ## Clauses that are not passed

                                | id | clause | state |
                                |---|---|---|
                                | a-2 | Is refused. | refused |
                                | a-3 | Fails once. | FAILED |
                                | a-4 | Was skipped. | missing |
                                | a-6 | Is stated. | note |
                                | a-7 | Is stated nowhere. | missing |
                                | a-8 | Is claimed by a test. | note |
                                | b-1 | A \\| B. | missing |
                                """);
    }

    @Test
    void shouldFindNotesThatAreStatedNowhereOrAreNone() {
        assertThat(new Conformance(CLAUSES, RESULTS, NOTES).notesOutOfPlace())
                .containsExactly(
                        "a-7 is not stated in fidelity.md",
                        "a-5 is stated in fidelity.md and no note",
                        "a-8 is a note that a test claims to show");
    }

    @Test
    void shouldNotDependOnTheOrderOfResults() {
        assertThat(new Conformance(CLAUSES, RESULTS.reversed(), NOTES).toReport())
                .isEqualTo(new Conformance(CLAUSES, RESULTS, NOTES).toReport());
    }

    /** The build's own reports, the summary of which is the page in docs. */
    @Test
    @Tag("whole-build") // it reads the results of all tests
    void shouldBeTheSummaryInTheDocuments() throws IOException {
        Conformance conformance =
                new Conformance(
                        Files.readAllLines(ProjectModules.ROOT.resolve("docs/clauses.tsv")),
                        resultLines(),
                        Files.readAllLines(
                                ProjectModules.ROOT.resolve("docs/" + Conformance.NOTES)));
        Path target = ProjectModules.buildFolder("architecture-tests");
        Files.writeString(target.resolve("conformance.md"), conformance.toReport());
        Path summary = target.resolve("conformance-summary.md");
        Files.writeString(summary, conformance.toSummary());

        assertThat(conformance.unknown()).as("ids that are not in docs/clauses.tsv").isEmpty();
        assertThat(conformance.notesOutOfPlace()).isEmpty();
        assertThat(conformance.failed()).as("tests that failed").isEmpty();
        if (!conformance.skipped().isEmpty()) {
            System.out.println(
                    "docs/conformance.md: not compared: skipped=" + conformance.skipped());
            return;
        }
        assertThat(ProjectModules.ROOT.resolve("docs/conformance.md"))
                .as(
                        "results of the tests; if they are right: cp "
                                + summary
                                + " docs/conformance.md")
                .hasSameTextualContentAs(summary);
    }

    /** Of this build, and of the one before it whose tests this one leaves out. */
    private static List<String> resultLines() throws IOException {
        Path results =
                ProjectModules.folder("architecture-tests")
                        .relativize(BuildFolder.resolve("clauses").toAbsolutePath());
        List<Path> folders =
                results.equals(Path.of("target/full/clauses"))
                        ? List.of(results)
                        : List.of(Path.of("target/clauses"), results);
        List<String> lines = new ArrayList<>();
        for (String module : ProjectModules.modules()) {
            for (Path folder : folders) {
                lines.addAll(resultLines(module, ProjectModules.folder(module).resolve(folder)));
            }
        }
        return lines;
    }

    private static List<String> resultLines(String module, Path clauses) throws IOException {
        if (!Files.isDirectory(clauses)) {
            return List.of(); // a module none of whose tests has a mark
        }
        Path classes = ProjectModules.testClassFolder(module);
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(clauses)) {
            for (Path file : files.toList()) {
                String type = file.getFileName().toString().replaceFirst("\\.tsv$", "");
                // Left from a test that was removed since the last clean build.
                if (Files.exists(classes.resolve(type.replace('.', '/') + ".class"))) {
                    lines.addAll(Files.readAllLines(file));
                }
            }
        }
        return lines;
    }
}
