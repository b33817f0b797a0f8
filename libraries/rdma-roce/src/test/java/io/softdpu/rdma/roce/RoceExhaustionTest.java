package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.ProcessLimit;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A NIC for which descriptors or threads are missing: a named error, no leak, and a next try. */
@StartsProcesses
class RoceExhaustionTest {
    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    private ChildProcess run(ProcessLimit limit) {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(ExhaustionProgram.class)
                                // The JVM ends where it has no memory of its own: it gets that
                                // before.
                                .withJvmOptions(
                                        "-XX:TieredStopAtLevel=1", "-XX:InitialCodeCacheSize=32m")
                                .withEnvironment("MALLOC_ARENA_MAX", "1")
                                .withEnvironment("MALLOC_TOP_PAD_", Integer.toString(128 << 20))
                                .withEnvironment(
                                        "MALLOC_MMAP_THRESHOLD_", Integer.toString(1 << 30))
                                .withArguments(limit.name(), folder.toString()));
        assertThat(program.awaitExitWhileItPrints())
                .as(String.join("\n", program.errorLines()))
                .isZero();
        assertThat(program.outputLines())
                .contains("DONE")
                .noneMatch(line -> line.startsWith("PROBLEM"));
        return program;
    }

    @Test
    void shouldNameTheDescriptorsThatAreMissingForItsSocketAndForItsThread() {
        ChildProcess program = run(ProcessLimit.DESCRIPTORS);

        assertThat(program.outputLines())
                .anyMatch(line ->
                        line.matches(
                                "EXPORT free=0 NO_MEMORY: NIC of the device cannot be opened:"
                                        + " address=127[.].*, failure=.*EMFILE.*"))
                .anyMatch(line ->
                        line.matches(
                                "CONNECT free=0 NO_MEMORY: NIC of the device cannot be opened:"
                                        + " address=127[.].*, failure=.*EMFILE.*"));
    }

    @Test
    void shouldNameTheThreadThatCannotBeStarted() {
        ChildProcess program = run(ProcessLimit.ADDRESS_SPACE);

        assertThat(program.outputLines())
                .anyMatch(line ->
                        line.matches(
                                "START free=0 NO_MEMORY: thread of the NIC cannot be started:"
                                        + " address=127[.]99[.]0[.]7.*, failure=.*"));
    }
}
