package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** File volumes for which descriptors are missing: a named error, nothing left, and a next try. */
@StartsProcesses
class FileExhaustionTest {
    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    @Test
    void shouldNameTheDescriptorsThatAreMissingAndLeaveNothing() {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(FileExhaustionProgram.class)
                                .withEnvironment(
                                        "SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                                .withArguments(folder.toString()));

        assertThat(program.awaitExitWhileItPrints())
                .as(String.join("\n", program.errorLines()))
                .isZero();
        assertThat(program.outputLines())
                .contains("DONE")
                .noneMatch(line -> line.startsWith("PROBLEM"))
                .anyMatch(line -> line.matches("OPEN free=0 NO_MEMORY: .*EMFILE.*"))
                .anyMatch(line -> line.matches("START free=0 NO_MEMORY: .*EMFILE.*"));
    }
}
