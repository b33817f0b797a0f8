package io.softdpu.jcstress;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jcstress.Main;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.GradingResult;
import org.openjdk.jcstress.infra.runners.TestList;

/** Runs of jcstress in separate processes, and their results. */
final class Stress {
    /** States between two meetings of the threads. */
    private static final int STRIDE = 64;

    /** Such strides at a time: many, so that the threads mostly run and seldom meet. */
    private static final int STRIDES = 32;

    /** The same for tests whose states hold descriptors. */
    private static final int STRIDES_OF_DESCRIPTORS = 2;

    private static final String HOLD_DESCRIPTORS =
            "io\\.softdpu\\.(jcstress\\.(Mailbox|Poller|Engine|Queue|Grants)|core\\.sync\\.(Adapter|Handle|Remote)).*";

    static {
        // While it looks for the number of states that fit, jcstress tries a few too many.
        if (2 * STRIDE * STRIDES_OF_DESCRIPTORS > Pollers.COUNT
                || 2 * STRIDE * STRIDES > Memory.PIECES) {
            throw new ExceptionInInitializerError("more states at a time than there is for them");
        }
    }

    /** Duration and number of configurations of each test. */
    record Effort(int iterations, Duration iteration, boolean everyCompiler) {}

    /** Result of one test over all its configurations. */
    static final class Found {
        long samples;
        long forbidden;
        long interesting;
        final List<String> complaints = new ArrayList<>();
    }

    private final Map<String, Found> byTest = new TreeMap<>();

    private Stress() {}

    /** The tests of this module. */
    static Collection<String> tests() {
        return new TreeSet<>(TestList.tests());
    }

    /**
     * Runs tests.
     *
     * @param folder an empty one, for what jcstress leaves
     * @param tests names of tests
     */
    static Stress run(Processes processes, Path folder, Collection<String> tests, Effort effort)
            throws IOException, ClassNotFoundException {
        Stress stress = new Stress();
        Map<Boolean, List<String>> halves =
                tests.stream()
                        .collect(Collectors.partitioningBy(name -> name.matches(HOLD_DESCRIPTORS)));
        for (Map.Entry<Boolean, List<String>> half : halves.entrySet()) {
            if (!half.getValue().isEmpty()) {
                int strides = half.getKey() ? STRIDES_OF_DESCRIPTORS : STRIDES;
                Path own = Files.createDirectory(folder.resolve("strides-" + strides));
                stress.run(processes, own, half.getValue(), strides, effort);
            }
        }
        return stress;
    }

    private void run(
            Processes processes, Path folder, List<String> tests, int strides, Effort effort)
            throws IOException, ClassNotFoundException {
        List<String> arguments =
                List.of(
                        "-t",
                        "(" + String.join("|", tests).replace(".", "\\.") + ")$",
                        "-f",
                        "1",
                        "-fsm",
                        "1",
                        "-iters",
                        Integer.toString(effort.iterations),
                        "-time",
                        Long.toString(effort.iteration.toMillis()),
                        "-sc",
                        Boolean.toString(effort.everyCompiler),
                        "-strideSize",
                        Integer.toString(STRIDE),
                        "-strideCount",
                        Integer.toString(strides),
                        "-spinStyle",
                        "THREAD_YIELD",
                        "-hs",
                        "128",
                        "-r",
                        folder.resolve("report").toString(),
                        "-jvmArgs",
                        "--enable-native-access=ALL-UNNAMED");
        ChildProcess process =
                processes.start(
                        JavaCommand.ofClass(Main.class)
                                .withJvmOptions("-XX:TieredStopAtLevel=4") // also of its tests
                                .withDirectory(folder)
                                .withArguments(arguments.toArray(String[]::new)));
        int status = process.awaitExitWhileItPrints();
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> results =
                    files.filter(file -> file.getFileName().toString().matches("jcstress-.*\\.gz"))
                            .toList();
            if (results.size() == 1) {
                read(results.getFirst());
            }
            // It also answers with 1 where it has found something, which the complaints say.
            if (results.size() != 1 || (status != 0 && complaints().isEmpty())) {
                throw new AssertionError(
                        Text.format(
                                "jcstress did not come to its end: exit=%d, results=%s\n%s\n%s",
                                status,
                                results,
                                String.join("\n", process.outputLines()),
                                String.join("\n", process.errorLines())));
            }
        }
    }

    /** What each test came to, by its name. */
    Map<String, Found> byTest() {
        return byTest;
    }

    /** All complaints, one a line, each with its test. */
    List<String> complaints() {
        return byTest.entrySet().stream()
                .flatMap(test ->
                        test.getValue().complaints.stream()
                                .map(what -> test.getKey() + ": " + what))
                .toList();
    }

    long samples() {
        return byTest.values().stream().mapToLong(found -> found.samples).sum();
    }

    long forbidden() {
        return byTest.values().stream().mapToLong(found -> found.forbidden).sum();
    }

    long interesting() {
        return byTest.values().stream().mapToLong(found -> found.interesting).sum();
    }

    private void read(Path file) throws IOException, ClassNotFoundException {
        InProcessCollector collector = new InProcessCollector();
        DiskReadCollector reader = new DiskReadCollector(file.toString(), collector);
        try {
            reader.dump();
        } finally {
            reader.close();
        }
        for (TestResult result : collector.getTestResults()) {
            add(byTest.computeIfAbsent(result.getName(), name -> new Found()), result);
        }
        for (Map.Entry<String, Found> test : byTest.entrySet()) {
            if (test.getValue().samples == 0) {
                test.getValue().complaints.add("no samples");
            }
        }
    }

    private static void add(Found found, TestResult result) {
        found.samples += result.getTotalCount();
        if (result.status() != Status.NORMAL) {
            found.complaints.add(
                    Text.format(
                            "status=%s, messages=%s, output=%s, errors=%s",
                            result.status(),
                            result.getMessages(),
                            result.getVmOut(),
                            result.getVmErr()));
        }
        for (GradingResult outcome : result.grading().gradingResults.values()) {
            if (outcome.count > 0 && outcome.expect == Expect.FORBIDDEN) {
                found.forbidden += outcome.count;
                found.complaints.add(
                        Text.format(
                                "forbidden outcome: outcome=(%s), times=%d, means=%s",
                                outcome.id, outcome.count, outcome.description));
            } else if (outcome.expect == Expect.ACCEPTABLE_INTERESTING) {
                found.interesting += outcome.count;
            }
        }
    }
}
