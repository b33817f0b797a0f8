package io.softdpu.storage.exhaustion;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.ProcessLimit;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exhaustion of descriptors, address space and threads: a named error each, and no leak. */
@StartsProcesses
class ExhaustionTest {
    /** More than a session needs: its last steps succeed. */
    private static final int DESCRIPTORS_OF_A_SESSION = 120;

    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameWhatIsWantingAndLeaveNothingWhereverItIsWanting(ProcessLimit limit) {
        ChildProcess probe = probe(limit, "each");

        assertNoProblem(probe);
        String last =
                limit == ProcessLimit.DESCRIPTORS
                        ? "core.Mmap.createFromExport"
                        : "block.BlockDevice";
        assertThat(probe.outputLines())
                .anyMatch(line -> line.matches(last + " failures=[1-9].*"))
                .anyMatch(line -> line.startsWith("fabric.SharedSegment failures="))
                .anyMatch(line -> line.startsWith("core.Mmap.exportPci failures="))
                .filteredOn(line -> line.startsWith("fabric.Bus.open failures="))
                .singleElement()
                .asString()
                .containsPattern("failures=[1-9]")
                .contains(limit == ProcessLimit.DESCRIPTORS ? "EMFILE=" : "NO_THREAD=");
    }

    @Test
    @Tag(Soak.TAG)
    void shouldEndASessionThatRunsOutOfDescriptorsAndLeaveNothing(SeededRandom random) {
        long begin = System.nanoTime();
        List<String> arguments = new ArrayList<>(List.of("session"));
        for (int i = 0; i < Soak.count(3, 3, 60); i++) {
            arguments.add(Integer.toString(random.nextInt(DESCRIPTORS_OF_A_SESSION)));
        }

        ChildProcess probe = probe(ProcessLimit.DESCRIPTORS, arguments.toArray(String[]::new));

        assertNoProblem(probe);
        Soak.report(
                "sessions-without-descriptors",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "sessions="
                        + (arguments.size() - 1)
                        + ", "
                        + probe.awaitLine("storage.session errors="));
    }

    private ChildProcess probe(ProcessLimit limit, String... arguments) {
        return processes.start(
                JavaCommand.ofClass(ExhaustionProbe.class)
                        // The JVM's own needs come from memory that it has got before: it ends
                        // where
                        // there is none to grow its compiled code by.
                        .withJvmOptions("-XX:TieredStopAtLevel=1", "-XX:InitialCodeCacheSize=32m")
                        .withEnvironment("MALLOC_ARENA_MAX", "1")
                        .withEnvironment("MALLOC_TOP_PAD_", Integer.toString(128 << 20))
                        .withEnvironment("MALLOC_MMAP_THRESHOLD_", Integer.toString(1 << 30))
                        .withArguments(limit.name(), folder.toString())
                        .withArguments(arguments));
    }

    private static void assertNoProblem(ChildProcess probe) {
        assertThat(probe.awaitExitWhileItPrints())
                .as(String.join("\n", probe.errorLines()))
                .isZero();
        assertThat(probe.outputLines())
                .contains("DONE")
                .noneMatch(line -> line.startsWith("PROBLEM"));
    }
}
