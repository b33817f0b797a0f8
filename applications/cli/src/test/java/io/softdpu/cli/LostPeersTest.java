package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.ProcessView.Mapping;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Behaviour of the remaining roles when one of the three ends under load. */
@StartsProcesses
class LostPeersTest {
    @TempDir Path fabric;

    private Pipeline pipeline;

    @BeforeEach
    void setUp(Processes processes) {
        pipeline = new Pipeline(processes, fabric);
    }

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldEndTheOthersWithConnectionResetAndLetTheNextOnesStart(String victim) {
        ChildProcess target = pipeline.patternTarget();
        int port = Pipeline.portOf(target);
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator = pipeline.initiatorUnderLoad();
        List<ChildProcess> all = List.of(target, service, initiator);

        ChildProcess killed = all.get(List.of("target", "zero-copy", "initiator").indexOf(victim));
        Pipeline.assertKilled(killed);

        for (ChildProcess process : all) {
            if (process != killed) {
                assertThat(process.awaitExit()).isEqualTo(ExitCode.FAILED.code());
                assertThat(process.errorLines())
                        .anyMatch(line -> line.startsWith("softdpu: CONNECTION_RESET: "));
            }
            assertThat(process.view().descriptors()).as("nothing is left of it").isEmpty();
        }
        assertNextSessionSucceeds(port);
    }

    /** Under the same names and the same port, in the same fabric folder. */
    private void assertNextSessionSucceeds(int port) {
        ChildProcess target =
                pipeline.start(
                        ("storage target -d t0 --cpu any --volume memory:1M --listen-port " + port)
                                .split(" "));
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiator("read_throughput_test", "--run-limit-operation-count", "100");

        assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
        assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
    }

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    @Clause("sto-046")
    void shouldAbortOnCtrlCAndStillShowStatistics(String interrupted) {
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator = pipeline.initiatorUnderLoad();
        ChildProcess process =
                List.of(target, service, initiator)
                        .get(List.of("target", "zero-copy", "initiator").indexOf(interrupted));

        process.signal("INT");

        assertThat(process.awaitExit()).isEqualTo(ExitCode.INTERRUPTED.code());
        assertThat(process.errorLines())
                .anyMatch(line ->
                        line.matches("softdpu: CONNECTION_ABORTED: .*User requested abort.*"));
        assertThat(process.outputLines())
                .contains(interrupted + ": data path:")
                .anyMatch(line -> line.matches("  0 +any +[\\d.]+ s +\\d+ .* MIOP/s .*"));
        for (ChildProcess other : List.of(target, service, initiator)) {
            assertThat(other.awaitExit()).isNotEqualTo(ExitCode.OK.code());
        }
    }

    @Test
    @Clause("sto-056")
    void shouldAbortWhileItWaitsForAClient() {
        ChildProcess service = pipeline.service(pipeline.patternTarget());

        service.signal("TERM");

        assertThat(service.awaitExit()).isEqualTo(ExitCode.TERMINATED.code());
        assertThat(service.errorLines())
                .anyMatch(line ->
                        line.matches(
                                "softdpu: CONNECTION_ABORTED: Aborted while connecting to client:"
                                        + ".*User requested abort.*"));
    }

    @Test
    @Clause("sto-002")
    @Clause("sto-066")
    void shouldNotHoldAPageOfTheInitiatorsMemoryInTheServiceUnderLoad() {
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator = pipeline.initiatorUnderLoad();

        // The initiator's memory is as large as the volume: nothing else of its process is.
        Mapping memory =
                initiator.view().mappings().stream()
                        .filter(mapping -> mapping.isMemfd() && mapping.sizeBytes() == 4 << 20)
                        .findFirst()
                        .orElseThrow();
        assertThat(memory.residentBytes()).isEqualTo(4 << 20);
        assertThat(target.view().mappings())
                .as("the target reaches the same memory, so the name is the right one to look for")
                .anyMatch(mapping ->
                        mapping.name().equals(memory.name()) && mapping.residentBytes() > 0);

        assertThat(service.view().mappings())
                .filteredOn(mapping -> mapping.name().equals(memory.name()))
                .filteredOn(mapping -> mapping.sizeBytes() >= 4 << 20)
                .allSatisfy(mapping -> assertThat(mapping.residentBytes()).isZero());
    }
}
