package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A measurement of two processes, in a temporary folder of the test. */
@StartsProcesses
abstract class PerfFixture {
    @TempDir Path temporary;

    Processes processes;
    private final String measurement;
    private final int sockets;

    /**
     * A measurement.
     *
     * @param sockets in the folder once both processes are there
     */
    PerfFixture(String measurement, int sockets) {
        this.measurement = measurement;
        this.sockets = sockets;
    }

    @BeforeEach
    final void setUp(Processes processes) {
        this.processes = processes;
    }

    /** Sends a signal to a process that lives. */
    final void signal(ProcessHandle process, String name) {
        assertThat(trySignal(process, name)).as("%s sent to %s", name, process).isTrue();
    }

    /** False where the process has ended. */
    final boolean trySignal(ProcessHandle process, String name) {
        ChildProcess kill =
                processes.start(
                        new ProcessBuilder(
                                "/bin/sh", "-c", "kill -s " + name + " " + process.pid()));
        return kill.awaitExit() == 0;
    }

    /** The command with these arguments. */
    final ChildProcess perf(String... arguments) {
        return perfOf(measurement, arguments);
    }

    /** Another measurement, whose sockets count as well. */
    final ChildProcess perfOf(String measured, String... arguments) {
        return processes.start(
                Pipeline.command("perf", measured)
                        .withArguments(arguments)
                        .withJvmOptions("-Djava.io.tmpdir=" + temporary));
    }

    /** The document of a measurement that ends well. */
    static JsonNode measured(ChildProcess perf) throws IOException {
        assertThat(perf.awaitExit()).as("%s", perf.errorLines()).isEqualTo(ExitCode.OK.code());
        return new ObjectMapper().readTree(String.join("\n", perf.outputLines()));
    }

    /** Waits until both have a bus in the folder, and what else has a name there. */
    final ProcessHandle otherHalf(ChildProcess perf) {
        Await.until("both are there", () -> sockets() >= sockets);
        return startedHalf(perf);
    }

    /** The other process as soon as it is one. */
    static ProcessHandle startedHalf(ChildProcess perf) {
        ProcessHandle parent = ProcessHandle.of(perf.pid()).orElseThrow();
        Await.until("started", () -> parent.children().findAny().isPresent());
        return parent.children().findFirst().orElseThrow();
    }

    /** Number of the sockets of both buses. */
    final long sockets() {
        return list(temporary).stream()
                .flatMap(root -> list(root.resolve("fabric")).stream())
                .filter(path -> path.toString().endsWith(".sock"))
                .count();
    }

    final void assertNothingLeft() {
        Await.until(
                "the folder has gone",
                () ->
                        list(temporary).stream()
                                .noneMatch(path -> path.toString().contains("softdpu-perf")));
    }

    private static List<Path> list(Path where) {
        try (Stream<Path> found = Files.list(where)) {
            return found.toList();
        } catch (IOException e) {
            return List.of(); // not there yet, or not any more
        }
    }

    /** Kills the other half; the error that follows begins with the reason. */
    final void assertEndsAfterAKill(ChildProcess perf, String reason) {
        ProcessHandle dpu = otherHalf(perf);

        dpu.destroyForcibly();

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(perf.errorLines())
                .filteredOn(line -> line.startsWith("softdpu: "))
                .singleElement()
                .asString()
                .startsWith("softdpu: " + reason);
        assertNothingLeft();
    }

    /** Freezes the other half, which then does not see the SIGTERM: it has to be killed. */
    final void assertEndsAfterASignalThoughFrozen(ChildProcess perf) {
        ProcessHandle dpu = otherHalf(perf);
        signal(dpu, "STOP");

        perf.signal("TERM");

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.TERMINATED.code());
        assertThat(perf.errorLines())
                .contains("softdpu: CONNECTION_ABORTED: User requested abort")
                .noneMatch(line -> line.contains("command did not end after a signal"));
        Await.until("the other half has ended", () -> !dpu.isAlive());
        assertNothingLeft();
    }
}
