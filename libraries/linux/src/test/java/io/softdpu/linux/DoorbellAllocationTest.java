package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Doorbells allocate nothing on the heap where the calls are not inlined, either. */
@StartsProcesses
final class DoorbellAllocationTest {
    @ParameterizedTest
    @ValueSource(strings = {"-XX:TieredStopAtLevel=1", "-Xint"})
    void shouldNotAllocateWithoutAnOptimisingCompiler(String option, Processes processes) {
        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(DoorbellAllocationProbe.class).withJvmOptions(option));

        assertThat(probe.awaitExit()).as("%s", probe.errorLines()).isZero();
        assertThat(probe.outputLines()).containsExactly("drain: bytes=0", "drainWithPeek: bytes=0");
    }
}
