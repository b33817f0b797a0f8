package io.softdpu.topology.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SOFTDPU_TOPOLOGY, tested in other processes, since a process cannot change its environment. */
@StartsProcesses
class EnvironmentTest {

    @ParameterizedTest
    @CsvSource({
        "'', topology default",
        "default, topology default",
        "storage-guide, topology storage-guide",
        "/no/such/file.json, refused NOT_FOUND no such topology: file=/no/such/file.json"
    })
    void shouldOpenMachinesOfTheCardThatTheVariableNames(
            String value, String said, @TempDir Path fabric, Processes processes) {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(EnvironmentProcess.class)
                                .withEnvironment("SOFTDPU_TOPOLOGY", value)
                                .withEnvironment("SOFTDPU_FABRIC", fabric.toString()));
        assertThat(program.awaitLine("^(topology|refused) ")).startsWith(said);
        assertThat(program.awaitExit()).isZero();
    }
}
