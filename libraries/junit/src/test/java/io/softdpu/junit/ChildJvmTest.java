package io.softdpu.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes that a test starts on its card. */
@StartsProcesses
class ChildJvmTest {
    private static final Topology TOPOLOGY = topology();

    /** Processes of the examples. */
    private static final Map<String, ChildJvm> STARTED = new ConcurrentHashMap<>();

    @RegisterExtension
    static final SoftDpuExtension CARD =
            SoftDpuExtension.builder().topology(TOPOLOGY).seed(7).childOptions("-Dset=yes").build();

    private static Topology topology() {
        Topology.Builder builder = Topology.builder("of this test");
        Topology.builtin().functions().forEach(builder::add);
        return builder.build();
    }

    private static BufferedReader input() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    private static void describe(SoftDpu card) {
        System.out.println("folder " + card.dpu().fabricFolder());
        System.out.println("topology " + card.topology().name());
        System.out.println("seed " + Objects.requireNonNull(Sanitizer.current()).seed());
        System.out.println("option " + System.getProperty("set"));
    }

    private static void echo(SoftDpu card) throws IOException {
        BufferedReader input = input();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println("echo " + line);
            if (line.equals("exit")) {
                return;
            }
        }
    }

    @Smoke
    @Test
    void shouldGiveAProgramTheCardOfTheTest(SoftDpu card) {
        assertThat(card.host().topology()).isEqualTo(TOPOLOGY);
        ChildJvm child = card.start(ChildJvmTest::describe);
        assertThat(child.awaitLine("^folder ", Patience.LIMIT))
                .isEqualTo("folder " + card.fabricFolder());
        assertThat(child.awaitLine("^topology", Patience.LIMIT)).isEqualTo("topology of this test");
        assertThat(child.awaitLine("^seed", Patience.LIMIT)).isEqualTo("seed 7");
        assertThat(child.awaitLine("^option", Patience.LIMIT)).isEqualTo("option yes");
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
        assertThat(child.awaitExit(longest)).as("%s", child.errorLines()).isZero();
        assertThat(child.isAlive()).isFalse();
    }

    /** A main class of a program. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            try (Machine machine = Machine.open(Side.HOST)) {
                System.out.println(machine.fabricFolder() + " " + String.join(",", arguments));
                System.out.println("named " + System.getenv("SOFTDPU_TOPOLOGY"));
            }
        }
    }

    @Test
    void shouldLetAMainClassFindTheFabricFolderAndTakeNoCardOfTheEnvironment(SoftDpu card) {
        ChildJvm child = card.startMain(Program.class, "one", "two");
        assertThat(child.awaitExit(Patience.LIMIT)).as("%s", child.errorLines()).isZero();
        assertThat(child.outputLines()).containsExactly(card.fabricFolder() + " one,two", "named ");
    }

    @Test
    void shouldSendCapturedValuesAndLines(SoftDpu card) {
        String word = "captured";
        ChildJvm child =
                card.start(other -> {
                    System.out.println(word);
                    echo(other);
                });
        assertThat(child.awaitLine(".", Patience.LIMIT)).isEqualTo("captured");
        child.send("one");
        child.send("one");
        assertThat(child.awaitLine("^echo", Patience.LIMIT)).isEqualTo("echo one");
        assertThat(child.awaitLine("^echo", Patience.LIMIT))
                .as("the next line")
                .isEqualTo("echo one");
        child.send("exit");
        assertThat(child.awaitExit(Patience.LIMIT)).isZero();
    }

    @Test
    void shouldRefuseAProgramThatCannotBeSent(SoftDpu card) {
        assertThatThrownBy(() -> card.start(other -> System.out.println(card)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("type=io.softdpu.junit.SoftDpu");
    }

    @Test
    void shouldFreezeResumeAndKillAProcess(SoftDpu card) {
        ChildJvm child = card.start(ChildJvmTest::echo);
        child.send("begin");
        child.awaitLine("echo begin", Patience.LIMIT);
        child.freeze();
        child.send("while frozen");
        assertThat(child.isAlive()).isTrue();
        assertThat(child.outputLines()).containsExactly("echo begin");
        child.resume();
        child.awaitLine("echo while frozen", Patience.LIMIT);
        child.kill();
        assertThat(child.isAlive()).isFalse();
        assertThat(child.awaitExit(Patience.LIMIT)).isEqualTo(128 + 9);
    }

    @Test
    void shouldFailWithTheOutputOfTheProcessWhenALineDoesNotCome(SoftDpu card) {
        ChildJvm child =
                card.start(other -> {
                    System.out.println("output of the process");
                    System.err.println("error of the process");
                    System.exit(3);
                });
        assertThatThrownBy(() -> child.awaitLine("never", Patience.LIMIT))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith(
                        "process ended before the line came: regex=never, exitCode=3,")
                .hasMessageContainingAll("alive=false", "output of the process");
        assertThat(child.awaitExit(Patience.LIMIT)).isEqualTo(3);
        assertThat(child.errorLines()).containsExactly("error of the process");
    }

    @Test
    void shouldSayThatALineHasNotComeFromAProcessThatStillRuns(SoftDpu card) {
        ChildJvm child = card.start(ChildJvmTest::echo);
        assertThatThrownBy(() -> child.awaitLine("never", Duration.ofMillis(1)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("line has not come: regex=never, timeout=PT0.001S,")
                .hasMessageContaining("alive=true");
    }

    private static Optional<Throwable> failureOf(String method) {
        return Run.of(Examples.class, method).getThrowable();
    }

    @Test
    void shouldEndAllProcessesWithTheTest() {
        assertThat(failureOf("leavesAProcess")).isEmpty();
        assertThat(Objects.requireNonNull(STARTED.remove("left")).isAlive()).isFalse();
    }

    @Test
    void shouldFailATestOfWhichAProcessHasFailed() {
        assertThat(failureOf("hasAFailingProcess").orElseThrow())
                .hasMessageContainingAll(
                        "process has failed: exitCode=1", "IllegalStateException: of the process");
        assertThat(failureOf("expectsAFailingProcess")).isEmpty();
    }

    @Test
    void shouldFailAProcessThatLeavesAnEngine() {
        assertThat(failureOf("hasALeakyProcess").orElseThrow())
                .hasMessageContainingAll(
                        "process has failed: exitCode=1",
                        "ProgressEngine.create at ChildJvmTest.java:");
    }

    @Test
    void shouldAddTheOutputOfProcessesToAFailureOfTheTest() {
        assertThat(failureOf("failsBesideAProcess").orElseThrow().getSuppressed())
                .singleElement()
                .satisfies(details ->
                        assertThat(details)
                                .hasMessageContainingAll("repeat with", "echo of the process"));
    }

    static class Examples {
        @RegisterExtension
        static final SoftDpuExtension CARD =
                SoftDpuExtension.builder().leakDeadline(Duration.ofMillis(200)).build();

        @Test
        void leavesAProcess(SoftDpu card) {
            STARTED.put("left", card.start(ChildJvmTest::echo));
        }

        private static void fail(SoftDpu card) {
            throw new IllegalStateException("of the process");
        }

        @Test
        void hasAFailingProcess(SoftDpu card) {
            ChildJvm child = card.start(Examples::fail);
            assertThatThrownBy(() -> child.awaitLine("never", Patience.LIMIT))
                    .isInstanceOf(AssertionError.class);
            awaitEnd(child);
        }

        @Test
        void expectsAFailingProcess(SoftDpu card) {
            assertThat(card.start(Examples::fail).awaitExit(Patience.LIMIT)).isOne();
        }

        private static void leak(SoftDpu card) {
            System.out.println(ProgressEngine.create().owner().getName());
        }

        @Test
        void hasALeakyProcess(SoftDpu card) {
            awaitEnd(card.start(Examples::leak));
        }

        private static void awaitEnd(ChildJvm child) {
            ProcessHandle.of(child.pid()).ifPresent(process -> process.onExit().join());
        }

        @Test
        void failsBesideAProcess(SoftDpu card) {
            ChildJvm child = card.start(ChildJvmTest::echo);
            child.send("of the process");
            child.awaitLine("echo", Patience.LIMIT);
            throw new IllegalStateException("of the test");
        }
    }
}
