package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SOFTDPU_RDMA_PROVIDER, tested in other processes, since a process cannot change its own. */
@StartsProcesses
class ProviderVariableTest {
    @ParameterizedTest
    @CsvSource({
        "'', '', state STARTING, ''",
        "auto, '', state STARTING, ''",
        "shm, '', state STARTING, ''",
        "ib, '', 'refused NOT_FOUND no RDMA provider of this name serves the device:"
                + " variable=SOFTDPU_RDMA_PROVIDER, provider=ib, device=',"
                + " expected=auto or one of [shm]",
        "ib, shm, state STARTING, ''"
    })
    void shouldStartInstancesWithTheProviderThatTheVariableNames(
            String value,
            String set,
            String said,
            String end,
            @TempDir Path fabric,
            Processes processes) {
        JavaCommand command = JavaCommand.ofClass(ProviderVariableProcess.class);
        if (!set.isEmpty()) {
            command = command.withArguments(set);
        }
        ChildProcess program =
                processes.start(
                        command.withEnvironment("SOFTDPU_RDMA_PROVIDER", value)
                                .withEnvironment("SOFTDPU_FABRIC", fabric.toString()));
        assertThat(program.awaitLine("^(state|refused) ")).startsWith(said).endsWith(end);
        assertThat(program.awaitExit()).isZero();
    }
}
