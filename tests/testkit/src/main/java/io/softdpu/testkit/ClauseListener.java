package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the result of each test with {@link Clause}, for the generator of {@code
 * docs/conformance.md}.
 *
 * <p>One file per test class in the {@code clauses} of {@link BuildFolder}, one line per clause and
 * test: {@code id, test, passed|failed|skipped, reason of the refusal}, separated by tabs, sorted.
 * JUnit finds this listener by ServiceLoader wherever testkit is on the test class path.
 */
public final class ClauseListener implements TestExecutionListener {

    /** The worst of a test's invocations counts, so a greater ordinal wins. */
    enum Outcome {
        PASSED,
        SKIPPED,
        FAILED;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Path folder;
    private final Map<MethodSource, Outcome> outcomes = new ConcurrentHashMap<>();

    /** Writes into the folder of the build that runs the tests. */
    public ClauseListener() {
        this(BuildFolder.resolve("clauses"));
    }

    ClauseListener(Path folder) {
        this.folder = folder;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Outcome outcome =
                switch (result.getStatus()) {
                    case SUCCESSFUL -> Outcome.PASSED;
                    case ABORTED -> Outcome.SKIPPED;
                    case FAILED -> Outcome.FAILED;
                };
        record(test, outcome);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        record(test, Outcome.SKIPPED);
    }

    private void record(TestIdentifier test, Outcome outcome) {
        // A container of a parameterized test names the method too: its failure (no arguments, say)
        // is one of the test, its success says nothing that its invocations have not said.
        if (test.getSource().orElse(null) instanceof MethodSource source
                && (test.isTest() || outcome != Outcome.PASSED)) {
            outcomes.merge(source, outcome, (a, b) -> a.compareTo(b) >= 0 ? a : b);
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        Map<String, Set<String>> linesByClass = new TreeMap<>();
        outcomes.forEach((source, outcome) -> {
            for (Clause clause : clausesOf(source)) {
                for (String id : clause.value()) {
                    linesByClass
                            .computeIfAbsent(source.getClassName(), name -> new TreeSet<>())
                            .add(line(id, source, outcome, clause.refused()));
                }
            }
        });
        outcomes.clear();
        linesByClass.forEach(this::write);
    }

    private static String line(String id, MethodSource source, Outcome outcome, String refused) {
        String test = source.getClassName() + "#" + source.getMethodName();
        return String.join("\t", id, test, outcome.word(), refused);
    }

    private static List<Clause> clausesOf(MethodSource source) {
        List<Clause> found = new ArrayList<>();
        Method method = source.getJavaMethod();
        found.addAll(List.of(method.getAnnotationsByType(Clause.class)));
        addClausesOf(source.getJavaClass(), found);
        return found;
    }

    /** A contract suite's marks hold for its subclasses, an outer class's for its nested ones. */
    private static void addClausesOf(@Nullable Class<?> type, List<Clause> found) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            found.addAll(List.of(at.getAnnotationsByType(Clause.class)));
            addClausesOf(at.getEnclosingClass(), found);
        }
    }

    private void write(String testClass, Set<String> lines) {
        try {
            Files.createDirectories(folder);
            Files.write(folder.resolve(testClass + ".tsv"), lines);
        } catch (IOException e) {
            throw new UncheckedIOException("clauses not written: folder=" + folder, e);
        }
    }
}
