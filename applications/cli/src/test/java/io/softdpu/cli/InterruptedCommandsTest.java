package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ctrl-C, SIGTERM and the end of the parent while a command waits or works. {@link
 * InterruptedPhasesTest} has all phases.
 */
@StartsProcesses
class InterruptedCommandsTest {
    private static final long ENDLESS = 1_000_000_000_000L;
    private static final String ENDLESS_READS =
            "read:name=reads,ioSizeBytes=4096,transactions=64,order=sequential,nanos="
                    + TimeUnit.HOURS.toNanos(1);

    @TempDir Path fabric;
    @TempDir Path temporary;

    private Processes processes;
    private Pipeline pipeline;
    private Peers peers;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
        pipeline = new Pipeline(processes, fabric);
        peers = new Peers(fabric);
    }

    @AfterEach
    void closePeers() {
        peers.close();
    }

    @Test
    void shouldEndATargetThatWaitsForAService() {
        ChildProcess target = pipeline.patternTarget();

        assertAborted(target, "TERM");

        assertThat(target.outputLines())
                .as("no statistics of zero")
                .allMatch(line -> line.startsWith("listening: "));
        assertNothingLeft();
    }

    @Test
    void shouldEndAServiceThatFindsNoTarget() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            int nobody = taken.getLocalPort();
            taken.close(); // a closed port, and the service tries again and again
            ChildProcess service =
                    pipeline.start(
                            ("storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu any --log-level DEBUG"
                                            + " --control-timeout "
                                            + Patience.SECONDS
                                            + " --storage-server 127.0.0.1:"
                                            + nobody)
                                    .split(" "));
            service.awaitErrorLine("CONNECTING_TO_STORAGE");

            assertAborted(service, "INT");
            assertNothingLeft();
        }
    }

    @Test
    void shouldEndAnInitiatorThatFindsNoService() {
        ChildProcess initiator = pipeline.initiator("read_throughput_test", "--log-level", "DEBUG");
        initiator.awaitErrorLine("CONNECTING_TO_SERVICE");

        assertAborted(initiator, "TERM");
        assertNothingLeft();
    }

    /** A target that stands still keeps the session where it is: asked, and not answered. */
    @ParameterizedTest
    @ValueSource(strings = {"initiator", "zero-copy"})
    void shouldEndWhileTheSessionIsInitialised(String interrupted) {
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target, "--log-level", "DEBUG");
        target.freeze();
        ChildProcess initiator = pipeline.initiator("read_throughput_test", "--log-level", "DEBUG");
        service.awaitErrorLine(" QUERY$");
        boolean byInitiator = interrupted.equals("initiator");

        assertAborted(byInitiator ? initiator : service, "INT");

        assertThat((byInitiator ? service : initiator).awaitExit())
                .isEqualTo(ExitCode.FAILED.code());
        target.thaw();
        assertThat(target.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertNothingLeft();
    }

    /** A phase of a parent is the same load, and its progress is printed. */
    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void shouldShowWhatAThroughputTestHadMeasuredUntilThen(String signal) {
        peers.service(peers.target());
        ChildProcess initiator = pipeline.initiatorOfPhase(ENDLESS_READS);
        initiator.awaitLine("phase: .* state=running, operations=[1-9]\\d*, .*");

        assertAborted(initiator, signal);

        peers.assertAllFail();
        assertThat(initiator.outputLines())
                .anyMatch(line -> line.matches("phase .* \\(aborted\\): operations of .*"))
                .anyMatch(line -> line.matches("  latency +min +mean +p50 +p90 .*"))
                .anyMatch(line -> line.matches(" +([\\d.]*[1-9][\\d.]* [num]?s *){7}"))
                .anyMatch(line -> line.equals("initiator: data path:"));
        assertThat(initiator.outputLines())
                .as("the phase and the data path")
                .filteredOn(line -> line.matches("  0 +any .*"))
                .hasSize(2)
                .allMatch(line ->
                        line.matches(
                                "  0 +any +[\\d.]+ s +([1-9]\\d*) +\\1 +0 +0 .* GB/s"
                                        + " +\\d+\\.\\d*[1-9]\\d* MIOP/s +[\\d.]+ %"
                                        + " +[1-9]\\d*:\\d+ +\\d+"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldEndWithItsParentAndSaySo(String role) throws Exception {
        ChildProcess process =
                switch (role) {
                    case "target" ->
                            pipeline.target("--volume", "memory:4MiB", "--exit-with-parent");
                    case "zero-copy" -> pipeline.service(peers.target(), "--exit-with-parent");
                    default -> {
                        peers.service(peers.target());
                        yield pipeline.initiatorUnderLoad(
                                "read_throughput_test", "--exit-with-parent");
                    }
                };
        if (role.equals("target")) {
            peers.service(Pipeline.portOf(process));
        }
        if (!role.equals("initiator")) {
            peers.initiator(ENDLESS);
            assertThat(peers.load().await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        process.standardInput().close();

        assertThat(process.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(process.errorLines())
                .anyMatch(line ->
                        line.matches("softdpu: CONNECTION_ABORTED: .*parent process has ended.*"));
        peers.assertAllFail();
        peers.close();
        assertNothingLeft();
    }

    /**
     * A JVM that a signal ends while it initializes itself, of whatever program, may exit with 1.
     */
    private static boolean hitTheJvmBeforeItRanAnything(ChildProcess demo) {
        return demo.outputLines().contains("Error occurred during initialization of VM");
    }

    @Test
    @Tag(Soak.TAG)
    void shouldEndTheDemoAtAnyTime(SeededRandom random) {
        long begin = System.nanoTime();
        int total = Soak.count(2, 2, 60);
        int said = 0;
        for (int round = 0; round < total; round++) {
            // Terminals send it to all processes of the demo; kill sends it to the parent alone.
            boolean terminate = round % 2 == 1;
            ChildProcess demo =
                    processes.start(
                            Pipeline.command("demo", "--seconds", "3600", "--size", "1MiB")
                                    .withJvmOptions("-Djava.io.tmpdir=" + temporary));
            Await.holdsWithin(Duration.ofMillis(random.nextInt(3_000)), () -> !demo.isAlive());
            List<Long> children =
                    ProcessHandle.of(demo.pid())
                            .orElseThrow()
                            .children()
                            .map(ProcessHandle::pid)
                            .toList();
            // One that is just being started or ending has nothing to be looked at.
            demo.signal(terminate ? "TERM" : "INT");

            int exit = demo.awaitExit();
            if (exit == 1 && hitTheJvmBeforeItRanAnything(demo)) {
                continue;
            }
            assertThat(exit)
                    .as("round %d: %s", round, demo.errorLines())
                    .isEqualTo((terminate ? ExitCode.TERMINATED : ExitCode.INTERRUPTED).code());
            for (long child : children) {
                Await.until(
                        "child ended: pid=" + child,
                        () -> ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty());
            }
            assertThat(list(temporary)).noneMatch(path -> path.toString().contains("softdpu-demo"));
            List<String> errors =
                    demo.errorLines().stream()
                            .filter(line -> line.startsWith("softdpu: "))
                            .toList();
            if (!children.isEmpty()) {
                assertThat(errors)
                        .containsExactly("softdpu: CONNECTION_ABORTED: User requested abort");
            }
            said += errors.size();
        }
        Soak.report(
                "interrupted-demos",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "rounds=" + total + ", errors_CONNECTION_ABORTED=" + said);
    }

    private void assertAborted(ChildProcess process, String signal) {
        process.signal(signal);

        assertThat(process.awaitExit())
                .isEqualTo(
                        (signal.equals("INT") ? ExitCode.INTERRUPTED : ExitCode.TERMINATED).code());
        assertThat(process.errorLines().stream().filter(line -> line.startsWith("softdpu: ")))
                .singleElement()
                .asString()
                .matches("softdpu: CONNECTION_ABORTED: .*User requested abort.*");
    }

    /** All programs have ended by themselves, so there is nothing to sweep. */
    private void assertNothingLeft() {
        assertThat(list(fabric)).allMatch(file -> file.endsWith("topology"));
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
