package io.softdpu.architecture;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Merges the list of clauses with the results of their tests, into a report of all clauses and the
 * summary that is docs/conformance.md. Pure function: the same for the same lines in any order.
 */
final class Conformance {

    /** The document that states the notes, in a table with the ids of clauses before the text. */
    static final String NOTES = "fidelity.md";

    private static final String NOTES_HEADING = "## Notes of the guides";
    private static final Pattern NOTE_ROW = Pattern.compile("\\| ([a-z]+-\\d+) \\| (\\S.*) \\|");
    private static final int NAMED_TESTS = 3;

    /**
     * A line of docs/clauses.tsv.
     *
     * @param id such as cc-031
     * @param area the group in which the report lists it
     * @param isNote whether it tells what programs have to know, which no test can show
     * @param text what the document demands
     */
    record Clause(String id, String area, boolean isNote, String text) {

        static Clause parse(String line) {
            String[] fields = line.split("\t", -1);
            if (fields.length != 5) {
                throw new IllegalArgumentException("clause line malformed: line=" + line);
            }
            return new Clause(fields[0], fields[2], fields[3].equals("note"), fields[4]);
        }
    }

    /**
     * A line that testkit's ClauseListener wrote.
     *
     * @param id the clause
     * @param test class and method
     * @param result passed, failed or skipped
     * @param refused why the clause is refused; empty where the test shows the clause itself
     */
    record Shown(String id, String test, String result, String refused) {

        static Shown parse(String line) {
            String[] fields = line.split("\t", -1);
            if (fields.length != 4) {
                throw new IllegalArgumentException("result line malformed: line=" + line);
            }
            return new Shown(fields[0], fields[1], fields[2], fields[3]);
        }

        /** Class and method without the package. */
        String shortTest() {
            String type = test.substring(0, test.indexOf('#'));
            return type.substring(type.lastIndexOf('.') + 1) + test.substring(test.indexOf('#'));
        }
    }

    /** State of a clause by the results of its tests. */
    enum State {
        PASSED("passed"),
        REFUSED("refused"),
        NOTE("note"),
        FAILED("FAILED"),
        MISSING("missing");

        private final String word;

        State(String word) {
            this.word = word;
        }
    }

    private final Map<String, Clause> clauses = new LinkedHashMap<>();
    private final Map<String, List<Shown>> shownById = new TreeMap<>();
    private final Set<String> stated;

    /**
     * Merges.
     *
     * @param clauseLines docs/clauses.tsv with its heading
     * @param resultLines the lines of all modules
     * @param noteLines the document with the notes
     */
    Conformance(List<String> clauseLines, Collection<String> resultLines, List<String> noteLines) {
        stated = stated(noteLines);
        clauseLines.stream()
                .skip(1)
                .map(Clause::parse)
                .forEach(clause -> {
                    if (clauses.put(clause.id, clause) != null) {
                        throw new IllegalArgumentException("clause listed twice: id=" + clause.id);
                    }
                });
        new TreeSet<>(resultLines)
                .stream()
                        .map(Shown::parse)
                        .forEach(shown ->
                                shownById
                                        .computeIfAbsent(shown.id, id -> new ArrayList<>())
                                        .add(shown));
    }

    private static Set<String> stated(List<String> noteLines) {
        Set<String> ids = new TreeSet<>();
        boolean inSection = false;
        for (String line : noteLines) {
            if (line.startsWith("## ")) {
                inSection = line.equals(NOTES_HEADING);
            }
            Matcher row = NOTE_ROW.matcher(line);
            if (inSection && row.matches() && !ids.add(row.group(1))) {
                throw new IllegalArgumentException("note stated twice: id=" + row.group(1));
            }
        }
        return ids;
    }

    /** Notes that the document does not state, and what it states that is no note. */
    List<String> notesOutOfPlace() {
        Set<String> notes =
                clauses.values().stream()
                        .filter(Clause::isNote)
                        .map(Clause::id)
                        .collect(Collectors.toCollection(TreeSet::new));
        List<String> problems = new ArrayList<>();
        notes.stream()
                .filter(id -> !stated.contains(id))
                .forEach(id -> problems.add(id + " is not stated in " + NOTES));
        stated.stream()
                .filter(id -> !notes.contains(id))
                .forEach(id -> problems.add(id + " is stated in " + NOTES + " and no note"));
        notes.stream()
                .filter(shownById::containsKey)
                .forEach(id -> problems.add(id + " is a note that a test claims to show"));
        return problems;
    }

    /**
     * Tests with a mark that were skipped: on another machine they may show what is missing here.
     */
    List<String> skipped() {
        return testsWith("skipped");
    }

    /** Ids that tests name and the list does not have, each with a test that names it. */
    List<String> unknown() {
        return shownById.values().stream()
                .map(List::getFirst)
                .filter(shown -> !clauses.containsKey(shown.id))
                .map(shown -> shown.id + " in " + shown.test)
                .toList();
    }

    /** Tests with a mark that did not pass for another reason than being skipped. */
    List<String> failed() {
        return testsWith("failed");
    }

    private List<String> testsWith(String result) {
        return shownById.values().stream()
                .flatMap(List::stream)
                .filter(shown -> shown.result.equals(result))
                .map(Shown::test)
                .distinct()
                .toList();
    }

    State state(String id) {
        Clause clause = clauses.get(id);
        if (clause != null && clause.isNote) {
            return stated.contains(id) ? State.NOTE : State.MISSING;
        }
        List<Shown> all = shownById.getOrDefault(id, List.of());
        if (all.stream().anyMatch(shown -> shown.result.equals("failed"))) {
            return State.FAILED;
        }
        // A skipped test has shown nothing, for or against.
        List<Shown> passed = passed(id);
        if (passed.isEmpty()) {
            return State.MISSING;
        }
        return passed.stream().anyMatch(shown -> !shown.refused.isEmpty())
                ? State.REFUSED
                : State.PASSED;
    }

    private List<Shown> passed(String id) {
        return shownById.getOrDefault(id, List.of()).stream()
                .filter(shown -> shown.result.equals("passed"))
                .toList();
    }

    /** The whole of docs/conformance.md: counts, and the clauses that are not passed. */
    String toSummary() {
        StringBuilder text = new StringBuilder();
        text.append(
                """
                # Conformance

                What the seed documents demand ([clauses.tsv](clauses.tsv)), and how much of it the tests show. Made by
                `mvn -Pfull verify` from the marks `@Clause` on tests and from the results of these tests, as
                `tests/architecture-tests/target/conformance-summary.md`; do not edit. `conformance.md` beside it names
                the tests of each clause.

                A clause is *passed* when at least one test shows it and no test that names it fails, *refused* when a
                test shows that it is answered with NOT_SUPPORTED, a *note* when it tells what programs have to know,
                which no test can show, and the document named with it states it, and *missing* otherwise.

                """);
        appendCounts(text);
        text.append("\n## Clauses that are not passed\n\n");
        appendClauses(
                text,
                areas().values().stream()
                        .flatMap(List::stream)
                        .filter(clause -> state(clause.id) != State.PASSED)
                        .toList(),
                id -> state(id).word);
        return text.toString();
    }

    /** Each clause with its tests, by area. */
    String toReport() {
        StringBuilder text = new StringBuilder("# Clauses and their tests\n\n");
        appendCounts(text);
        areas().forEach((area, members) -> {
            text.append("\n## ").append(area).append("\n\n");
            appendClauses(text, members, this::stateText);
        });
        return text.toString();
    }

    private Map<String, List<Clause>> areas() {
        return clauses.values().stream()
                .collect(Collectors.groupingBy(Clause::area, TreeMap::new, Collectors.toList()));
    }

    private void appendCounts(StringBuilder text) {
        text.append(
                """
                | area | clauses | passed | refused | notes | missing |
                |---|---:|---:|---:|---:|---:|
                """);
        areas().forEach((area, members) -> text.append(counts(area, members)));
        text.append(counts("**all**", clauses.values()));
    }

    private static void appendClauses(
            StringBuilder text, List<Clause> clauses, Function<String, String> stateOf) {
        text.append("| id | clause | state |\n|---|---|---|\n");
        for (Clause clause : clauses) {
            text.append(
                    String.format(
                            Locale.ROOT,
                            "| %s | %s | %s |\n",
                            clause.id,
                            escaped(clause.text),
                            escaped(stateOf.apply(clause.id))));
        }
    }

    private String counts(String name, Collection<Clause> members) {
        Map<State, Long> counts =
                members.stream()
                        .map(clause -> state(clause.id))
                        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        return String.format(
                Locale.ROOT,
                "| %s | %d | %d | %d | %d | %d |\n",
                name,
                members.size(),
                counts.getOrDefault(State.PASSED, 0L),
                counts.getOrDefault(State.REFUSED, 0L),
                counts.getOrDefault(State.NOTE, 0L),
                counts.getOrDefault(State.MISSING, 0L) + counts.getOrDefault(State.FAILED, 0L));
    }

    private String stateText(String id) {
        State state = state(id);
        String tests = tests(id);
        return switch (state) {
            case PASSED -> state.word + ": " + tests;
            case REFUSED -> {
                String reasons =
                        passed(id).stream()
                                .map(Shown::refused)
                                .filter(reason -> !reason.isEmpty())
                                .distinct()
                                .collect(Collectors.joining("; "));
                yield state.word + ": " + reasons + " (" + tests + ")";
            }
            case NOTE -> state.word + ": [" + NOTES + "](" + NOTES + "#notes-of-the-guides)";
            case FAILED, MISSING -> state.word;
        };
    }

    private String tests(String id) {
        List<String> names = passed(id).stream().map(Shown::shortTest).distinct().toList();
        String first =
                names.stream()
                        .limit(NAMED_TESTS)
                        .map(name -> "`" + name + "`")
                        .collect(Collectors.joining(", "));
        return names.size() > NAMED_TESTS
                ? first + " and " + (names.size() - NAMED_TESTS) + " more"
                : first;
    }

    private static String escaped(String text) {
        return text.replace("|", "\\|").replace("<", "&lt;");
    }
}
