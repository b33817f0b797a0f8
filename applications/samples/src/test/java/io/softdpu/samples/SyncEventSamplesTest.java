package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the sync event samples, as two processes. */
@StartsProcesses
class SyncEventSamplesTest {
    private static final String DPU = "sync-event-dpu";
    private static final String HOST = "sync-event-host";

    @TempDir Path folder;

    private JavaCommand program(String... arguments) {
        return JavaCommand.ofClass(SampleProgram.class)
                .withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                .withArguments(arguments);
    }

    private static String[] with(String sample, String... options) {
        List<String> all = new ArrayList<>(List.of(sample));
        all.addAll(List.of(options));
        if (sample.equals(DPU)) {
            all.add("rep-pci-addr=0b:00.0");
        }
        return all.toArray(String[]::new);
    }

    /** The DPU's program, which listens. */
    private ChildProcess dpu(Processes processes, String... options) {
        ChildProcess dpu = processes.start(program(with(DPU, options)));
        dpu.awaitLine("^waiting for sync-event-host$");
        return dpu;
    }

    private static void assertEndsWell(ChildProcess sample) {
        assertThat(sample.awaitExit()).as("%s", sample.errorLines()).isZero();
        assertThat(sample.errorLines()).isEmpty();
    }

    /** Runs both with these options, the DPU first, and checks their output. */
    private void assertSignals(Processes processes, String... options) {
        ChildProcess dpu = dpu(processes, options);
        ChildProcess host = processes.start(program(with(HOST, options)));
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines())
                .hasSize(4)
                .containsSubsequence(
                        "connected to sync-event-dpu", "signalled: value=1", "waited: value=2");
        assertThat(host.outputLines().get(1)).matches("exported: bytes=[1-9][0-9]+");
        assertThat(dpu.outputLines())
                .containsExactly(
                        "waiting for sync-event-host", "waited: value=1", "signalled: value=2");
    }

    @Test
    @Clause({"core-205", "core-214", "core-215"})
    @Clause({"core-216", "core-217", "core-218"})
    void shouldSignalBySetInSynchronousMode(Processes processes) {
        assertSignals(processes);
    }

    @Test
    @Clause({"core-213", "core-218", "core-222"})
    void shouldSignalByAddInSynchronousMode(Processes processes) {
        assertSignals(processes, "atomic=");
    }

    @Test
    @Clause({"core-211", "core-216", "core-217"})
    @Clause({"core-220", "core-222", "core-223"})
    void shouldSignalBySetInAsynchronousMode(Processes processes) {
        assertSignals(processes, "async=");
    }

    @Test
    @Clause({"core-211", "core-212", "core-213"})
    void shouldSignalByAddInAsynchronousModeWithADepth(Processes processes) {
        assertSignals(processes, "async=", "qdepth=8", "atomic=");
    }

    /** The mode is a choice of each side: the value is one and the same. */
    @ParameterizedTest
    @CsvSource({"async=,timeout=60", "timeout=60,async="})
    @Clause({"core-205", "core-216", "core-220"})
    void shouldSignalBetweenTheTwoModes(String ofDpu, String ofHost, Processes processes) {
        ChildProcess dpu = dpu(processes, ofDpu);
        ChildProcess host = processes.start(program(with(HOST, ofHost)));
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).endsWith("signalled: value=1", "waited: value=2");
        assertThat(dpu.outputLines()).endsWith("waited: value=1", "signalled: value=2");
    }

    /** The host waits for the DPU: one that was started before it gives the signal all the same. */
    @Test
    @Clause({"core-219", "core-221", "core-223"})
    void shouldExportAndSignalOnceTheDpuIsThere(Processes processes) {
        JavaCommand paused =
                program(with(HOST)).withEnvironment(SampleProgram.PAUSE_AFTER, "connected");
        ChildProcess dpu = dpu(processes);
        ChildProcess host = processes.start(paused);
        host.awaitLine("^connected to sync-event-dpu$");
        assertThat(dpu.outputLines()).containsExactly("waiting for sync-event-host");
        goOn(host);
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).containsSubsequence("signalled: value=1", "waited: value=2");
        assertThat(host.outputLines().get(1)).startsWith("exported: bytes=");
    }

    private static void goOn(ChildProcess paused) {
        try {
            paused.standardInput().write('\n');
            paused.standardInput().flush();
        } catch (IOException e) {
            throw new AssertionError("process does not read", e);
        }
    }

    /** The DPU waits for the host's signal then, and not for a message. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout=60", "async="})
    @Clause({"core-217", "core-222"})
    void shouldNotEndAWaitBeforeTheSignal(String mode, Processes processes) {
        ChildProcess dpu = dpu(processes, mode);
        ChildProcess host =
                processes.start(
                        program(with(HOST, mode))
                                .withEnvironment(SampleProgram.PAUSE_AFTER, "exported"));
        host.awaitLine("^exported");
        assertThat(dpu.outputLines()).containsExactly("waiting for sync-event-host");
        goOn(host);
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(dpu.outputLines()).contains("waited: value=1");
    }

    /**
     * The DPU waits for the message with the export, for the signal, or for the end of the host,
     * which is stopped at its line and then killed.
     */
    @ParameterizedTest
    @CsvSource({
        "connected,timeout=60",
        "connected,async=",
        "exported,timeout=60",
        "exported,async=",
        "signalled,timeout=60"
    })
    void shouldFailOnTheDpuIfTheHostIsKilled(String line, String mode, Processes processes) {
        ChildProcess dpu = dpu(processes, mode);
        ChildProcess host =
                processes.start(
                        program(with(HOST, mode)).withEnvironment(SampleProgram.PAUSE_AFTER, line));
        host.awaitLine("^" + line);
        host.freeze();
        host.kill();
        assertThat(dpu.awaitExit()).isEqualTo(1);
        assertThat(dpu.errorLines()).anyMatch(error -> error.contains("CONNECTION_RESET: "));
    }

    @Test
    @Clause({"core-209", "core-210"})
    void shouldWorkOnTheNamedDevices(Processes processes) {
        ChildProcess dpu =
                processes.start(program(DPU, "dev-pci-addr=03:00.1", "rep-pci-addr=0b:00.1"));
        dpu.awaitLine("^waiting");
        ChildProcess other =
                processes.start(program(with(HOST, "dev-pci-addr=0b:00.0", "timeout=0.5")));
        assertThat(other.awaitExit()).as("of the other port").isEqualTo(1);
        ChildProcess host = processes.start(program(HOST, "dev-pci-addr=0b:00.1"));
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).endsWith("waited: value=2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "qdepth=8|only the asynchronous mode has a work queue: option=--qdepth, depth=8",
                "async= qdepth=0|depth of the work queue is illegal: option=--qdepth, depth=0",
                "async= qdepth=many|depth of the work queue is illegal: option=--qdepth,"
                        + " depth=many",
                "async= qdepth=1048577|expected=1 to 1048576"
            })
    @Clause("core-212")
    void shouldRefuseADepthThatIsNone(String options, String reason, Processes processes) {
        ChildProcess host = processes.start(program(with(HOST, options.split(" "))));
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.errorLines())
                .anyMatch(line -> line.contains("INVALID_VALUE") && line.contains(reason));
    }

    /** Each wait of either has a time limit. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout=60", "async="})
    void shouldFailInTimeIfThePeerDoesNotAnswer(String mode, Processes processes) {
        ChildProcess alone = processes.start(program(with(DPU, "timeout=0.5")));
        assertThat(alone.awaitExit()).isEqualTo(1);
        assertThat(alone.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));

        ChildProcess dpu =
                processes.start(
                        program(with(DPU, mode))
                                .withEnvironment(SampleProgram.PAUSE_AFTER, "waited"));
        dpu.awaitLine("^waiting");
        String[] options =
                mode.equals("async=")
                        ? new String[] {mode, "timeout=5"}
                        : new String[] {"timeout=5"};
        ChildProcess host = processes.start(program(with(HOST, options)));
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));
    }
}
