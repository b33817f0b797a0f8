package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.perf.demo.DemoPhase;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ctrl-C at each step of a session of each command: exit code, errors of the peers, and released
 * resources.
 */
@StartsProcesses
@Tag(Soak.TAG)
class InterruptedPhasesTest {
    /** Before the target has a session: what it prints when its port is open. */
    private static final String OPENING = "OPENING";

    /** In the middle of the data path's work, which goes on. */
    private static final String LOAD = "LOAD";

    /** After the session, which went well: the statistics are about to be printed. */
    private static final String REPORTING = "REPORTING";

    /** The moments of each role, in their order. */
    private static final Map<String, List<String>> MOMENTS =
            Map.of(
                    "target",
                    words(
                            "OPENING LISTENING WAITING_FOR_CLIENT CONNECTED QUERY INIT START"
                                    + " DATA_PATH LOAD STOP SHUTDOWN REPORTING"),
                    "zero-copy",
                    words(
                            "CONNECTING_TO_STORAGE WAITING_FOR_CLIENT CONNECTED QUERY INIT START"
                                    + " DATA_PATH LOAD STOP SHUTDOWN REPORTING"),
                    "initiator",
                    words(
                            "CONNECTING_TO_SERVICE CONNECTED QUERY INIT START DATA_PATH LOAD STOP"
                                    + " SHUTDOWN REPORTING"));

    /** The lines before which the demo stands still: all that it says while it is well. */
    private static final List<String> DEMO_LINES =
            Stream.concat(
                            Stream.of(
                                    "^volume: ",
                                    "^starting target",
                                    "^starting zero-copy",
                                    "^starting initiator"),
                            IntStream.rangeClosed(1, 4 + DemoPhase.measuredByDefault().size())
                                    .mapToObj(phase -> "^\\[" + phase + "/"))
                    .toList();

    /** The same when the demo is over and cannot be interrupted any more. */
    private static final String DEMO_RESULT = "^phase +I/O size";

    /** Cells that are under way at the same time. */
    private static final int AT_ONCE = 3;

    private static final long ENDLESS = 1_000_000_000_000L;
    private static final String NO_PAUSE = "(?!)";
    private static final String ABORTED =
            "softdpu: CONNECTION_ABORTED: (Aborted while .*: reason=)?User requested abort";

    @TempDir private Path folder;
    private final List<Peers> begun = new ArrayList<>();
    private int folders;

    @AfterEach
    void closePeers() {
        begun.forEach(Peers::close);
    }

    /** A role and the step at which it is interrupted. */
    private record Cell(String role, String moment) {
        boolean isAtLeast(String step) {
            List<String> moments = MOMENTS.get(role);
            return moments.indexOf(moment) >= moments.indexOf(step);
        }

        boolean isLookingForPeer() {
            return moment.startsWith("CONNECTING_TO_");
        }

        /** Found in the line before which it pauses. */
        String line() {
            return switch (moment) {
                case OPENING -> "^listening: port=";
                case LOAD -> NO_PAUSE;
                case REPORTING -> "^(phase |" + role + ": data path:)";
                default -> " " + role + ": " + moment + "(: |$)";
            };
        }

        long operations() {
            return moment.equals(LOAD) || moment.equals("DATA_PATH") ? ENDLESS : 100;
        }

        @Override
        public String toString() {
            return role + " " + moment;
        }
    }

    /** A command and its peers, running or ended. */
    private record Session(Cell cell, Path fabric, ChildProcess process, Peers peers) {}

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldEndWithTheStatusOfCtrlCInEveryPhaseOfEveryRole(
            String role, Processes processes, SeededRandom random) {
        assertThat(MOMENTS.values().stream().flatMap(List::stream))
                .as("no step is forgotten")
                .containsAll(Stream.of(SessionStep.values()).map(SessionStep::name).toList());
        long start = System.nanoTime();
        List<Cell> cells = new ArrayList<>();
        for (int round = 0; round < Soak.count(1, 1, 5); round++) {
            MOMENTS.get(role).forEach(moment -> cells.add(new Cell(role, moment)));
        }
        Collections.shuffle(cells, new Random(random.nextLong()));

        overlap(cells, cell -> begin(processes, cell), this::interrupt);

        Soak.report(
                "interrupted-phases-" + role,
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                "cells=" + cells.size());
    }

    private Session begin(Processes processes, Cell cell) {
        Path fabric = newFolder();
        Peers peers = new Peers(fabric);
        begun.add(peers);
        Function<String, ChildProcess> start =
                arguments ->
                        processes.start(
                                paused(cell.line(), "storage " + cell.role + " " + arguments)
                                        .withEnvironment("SOFTDPU_FABRIC", "" + fabric));
        String common = "--cpu any --log-level DEBUG --control-timeout " + Patience.SECONDS + " ";
        ChildProcess process =
                switch (cell.role) {
                    case "target" ->
                            start.apply(common + "-d t0 --listen-port 0 --volume memory:1MiB");
                    case "zero-copy" ->
                            start.apply(
                                    common
                                            + "-d 03:00.0 -r 0b:00.0 --storage-server 127.0.0.1:"
                                            + peers.target());
                    default -> {
                        peers.service(peers.target());
                        yield start.apply(
                                common
                                        + "-d 0b:00.0 --execution-strategy read_throughput_test"
                                        + " --run-limit-operation-count "
                                        + cell.operations());
                    }
                };
        if (cell.role.equals("target") && cell.isAtLeast("CONNECTED")) {
            peers.service(Pipeline.portOf(process));
        }
        if (!cell.role.equals("initiator")
                && cell.isAtLeast(cell.role.equals("target") ? "QUERY" : "CONNECTED")) {
            peers.initiator(cell.operations());
        }
        return new Session(cell, fabric, process, peers);
    }

    private void interrupt(Session session) {
        Cell cell = session.cell;
        try (Peers peers = session.peers) {
            if (!cell.moment.equals(LOAD)) {
                session.process.awaitLine("^paused$");
            } else {
                session.process.awaitErrorLine("Core: 0 running");
                if (!cell.role.equals("initiator")) {
                    await(peers.load());
                }
            }

            assertInterrupted(session.process, cell, !cell.moment.equals(REPORTING));

            if (cell.isLookingForPeer()) {
                assertPeersServeAnother(cell, peers);
            } else {
                peers.ends().forEach((role, end) -> assertPeerEnds(cell, role, end));
            }
        }
        assertThat(list(session.fabric)).as("%s", cell).allMatch(file -> file.endsWith("topology"));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The peers did not notice the client: another one has a whole session with them. */
    private static void assertPeersServeAnother(Cell cell, Peers peers) {
        if (cell.role.equals("zero-copy")) {
            peers.service(peers.targetPort());
        }
        peers.initiator(cell.operations());
        peers.ends()
                .forEach((role, end) -> {
                    try {
                        assertThat(end.get(Patience.SECONDS, TimeUnit.SECONDS).status())
                                .as("%s: %s", cell, role)
                                .isEqualTo(Status.SUCCESS);
                    } catch (ExecutionException | InterruptedException | TimeoutException e) {
                        throw new AssertionError(
                                cell + ": not served another: role=" + role + ", reason=" + e, e);
                    }
                });
    }

    private static void assertPeerEnds(
            Cell cell, String role, CompletableFuture<SessionReport> end) {
        try {
            SessionReport report = end.get(Patience.SECONDS, TimeUnit.SECONDS);
            assertThat(cell.moment)
                    .as("%s: %s ended with %s", cell, role, report)
                    .isEqualTo(REPORTING);
        } catch (ExecutionException e) {
            assertThat(cell.moment).as("%s: %s", cell, role).isNotEqualTo(REPORTING);
            assertThat(e.getCause())
                    .as("%s: %s", cell, role)
                    .isInstanceOf(DpuException.class)
                    .hasMessageMatching(
                            cell.role + " ended the session: reason=.*User requested abort");
            DpuException reason = (DpuException) e.getCause();
            assertThat(reason.status()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(Errors.codeOf(reason)).isEqualTo(ExitCode.FAILED);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(cell + ": no end of " + role, e);
        }
    }

    @Test
    void shouldEndTheDemoWithTheStatusOfCtrlCWhereverItIs(
            Processes processes, SeededRandom random) {
        long start = System.nanoTime();
        List<String> lines = new ArrayList<>();
        for (int round = 0; round < Soak.count(1, 1, 3); round++) {
            List<String> some = new ArrayList<>(DEMO_LINES);
            Collections.shuffle(some, new Random(random.nextLong()));
            lines.addAll(some.subList(0, Soak.count(1, 1, some.size())));
            lines.add(DEMO_RESULT);
        }

        overlap(lines, line -> beginDemo(processes, line), this::interruptDemo);

        Soak.report(
                "interrupted-demo-phases",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                "demos=" + lines.size() + ", moments=" + (DEMO_LINES.size() + 1));
    }

    /** A demo that runs until it prints a line. */
    private record Demo(String line, Path temporary, ChildProcess process) {}

    private Demo beginDemo(Processes processes, String line) {
        Path temporary = newFolder();
        return new Demo(
                line,
                temporary,
                processes.start(
                        paused(line, "demo --seconds 0.1 --size 1MiB")
                                .withJvmOptions("-Djava.io.tmpdir=" + temporary)));
    }

    private void interruptDemo(Demo demo) {
        demo.process.awaitLine("^paused$");
        List<ProcessHandle> children =
                ProcessHandle.of(demo.process.pid()).orElseThrow().children().toList();

        assertInterrupted(demo.process, demo, !demo.line.equals(DEMO_RESULT));

        for (ProcessHandle child : children) {
            Await.until("child ended: " + demo, () -> !child.isAlive());
        }
        assertThat(list(demo.temporary)).as("%s", demo).isEmpty();
    }

    /** It must not look as if the demo had not run: its hook waits for what there is to say. */
    @Test
    void shouldStillSayWhyADemoFailedWhereASignalComesJustThen(Processes processes) {
        ChildProcess demo =
                processes.start(
                        paused("^softdpu: OPERATING_SYSTEM", "demo")
                                .withJvmOptions("-Djava.io.tmpdir=" + folder.resolve("none")));
        demo.awaitLine("^paused$");

        demo.signal("INT");

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.INTERRUPTED.code());
        assertThat(demo.errorLines())
                .anyMatch(
                        line -> line.startsWith("softdpu: OPERATING_SYSTEM: shared folder cannot"));
    }

    /** Sends it the signal; where there was something to end, it says so, and nothing else. */
    private static void assertInterrupted(ChildProcess process, Object cell, boolean aborted) {
        process.signal("INT");

        assertThat(process.awaitExit())
                .as("%s: %s", cell, process.errorLines())
                .isEqualTo(ExitCode.INTERRUPTED.code());
        assertThat(process.errorLines())
                .as("%s", cell)
                .filteredOn(line -> line.startsWith("softdpu: "))
                .hasSize(aborted ? 1 : 0)
                .allMatch(line -> line.matches(ABORTED));
    }

    /** Begins some before the first is carried on: starting takes most of the time. */
    private static <C, S> void overlap(List<C> cells, Function<C, S> begin, Consumer<S> carryOn) {
        Deque<S> begun = new ArrayDeque<>();
        for (C cell : cells) {
            begun.addLast(begin.apply(cell));
            if (begun.size() == AT_ONCE) {
                carryOn.accept(begun.removeFirst());
            }
        }
        begun.forEach(carryOn);
    }

    private static JavaCommand paused(String line, String command) {
        return JavaCommand.ofClass(PausedCommand.class)
                .interruptible()
                .withArguments(line)
                .withArguments(command.split(" "));
    }

    private Path newFolder() {
        try {
            return Files.createDirectory(folder.resolve("" + folders++));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> list(Path of) {
        try (Stream<Path> all = Files.list(of)) {
            return all.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }
}
