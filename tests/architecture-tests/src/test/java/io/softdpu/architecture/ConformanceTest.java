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

    @Test
    void shouldMergeClausesAndResults() {
        Conformance conformance = new Conformance(CLAUSES, RESULTS, NOTES);

        assertThat(conformance.toMarkdown())
                .contains(
                        """
                        | [first](#first) | 8 | 2 | 1 | 2 | 3 |
                        | [second](#second) | 1 | 0 | 0 | 0 | 1 |
                        | **all** | 9 | 2 | 1 | 2 | 4 |

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
        assertThat(new Conformance(CLAUSES, RESULTS.reversed(), NOTES).toMarkdown())
                .isEqualTo(new Conformance(CLAUSES, RESULTS, NOTES).toMarkdown());
    }

    /** The build's own report; .ci/run compares it with the one in docs. */
    @Test
    @Tag("whole-build") // it reads the results of all tests
    void shouldKnowEveryClauseThatTestsName() throws IOException {
        Conformance conformance =
                new Conformance(
                        Files.readAllLines(ProjectModules.ROOT.resolve("docs/clauses.tsv")),
                        resultLines(),
                        Files.readAllLines(
                                ProjectModules.ROOT.resolve("docs/" + Conformance.NOTES)));
        Files.writeString(BuildFolder.resolve("conformance.md"), conformance.toMarkdown());

        assertThat(conformance.unknown()).as("ids that are not in docs/clauses.tsv").isEmpty();
        assertThat(conformance.notesOutOfPlace()).isEmpty();
        assertThat(conformance.failed()).as("tests that failed").isEmpty();
    }

    private static List<String> resultLines() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String module : ProjectModules.modules()) {
            Path target = ProjectModules.buildFolder(module);
            Path clauses = target.resolve("clauses");
            if (!Files.isDirectory(clauses)) {
                continue; // a module none of whose tests has a mark
            }
            try (Stream<Path> files = Files.list(clauses)) {
                for (Path file : files.toList()) {
                    String type = file.getFileName().toString().replaceFirst("\\.tsv$", "");
                    // Left from a test that was removed since the last clean build.
                    if (Files.exists(
                            target.resolve("test-classes")
                                    .resolve(type.replace('.', '/') + ".class"))) {
                        lines.addAll(Files.readAllLines(file));
                    }
                }
            }
        }
        return lines;
    }
}
