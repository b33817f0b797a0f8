package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Datagrams allocate nothing on the heap: where calls succeed, and polls, even without an
 * optimizing compiler, where others fail once they are compiled.
 */
@StartsProcesses
final class UdpSocketAllocationTest {
    @ParameterizedTest
    @ValueSource(strings = {"-XX:TieredStopAtLevel=1", "-Xint"})
    void shouldNotAllocateWithoutAnOptimisingCompiler(String option, Processes processes) {
        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(UdpSocketAllocationProbe.class).withJvmOptions(option));

        assertNothing(probe, 4);
    }

    @Test
    void shouldNotAllocateOnceCompiled(Processes processes) {
        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(UdpSocketAllocationProbe.class)
                                .withJvmOptions("-XX:TieredStopAtLevel=4", "-Xbatch")
                                .withArguments("compiled"));

        assertNothing(probe, 6);
    }

    private static void assertNothing(ChildProcess probe, int calls) {
        assertThat(probe.awaitExit()).as("%s", probe.errorLines()).isZero();
        List<String> lines = probe.outputLines();
        if (!lines.contains("none of ::1")) {
            assertThat(lines).hasSize(calls);
        }
        assertThat(lines)
                .isNotEmpty()
                .allMatch(line -> line.endsWith(": bytes=0") || line.equals("none of ::1"));
    }
}
