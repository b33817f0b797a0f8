package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of the shell scripts about arguments and variables that they refuse. */
@StartsProcesses
class ScriptsTest {

    /** Would clear the screen of a terminal, and begin a line that looks like one of a script. */
    private static final String HOSTILE = "x\u001b[2J\npassed";

    private static final String REPLACED = "x?[2J?passed";

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({
        "bin/fuzz,",
        "bin/matrix,",
        "bin/mutate,",
        "bin/matrix, --test",
        "bin/soak, --seed",
        "benchmarks/compare, --rounds",
        "benchmarks/beside-comch.sh, --rounds",
        "benchmarks/beside-core.sh, --rounds",
        "benchmarks/beside-rdma.sh, --rounds",
        "benchmarks/beside-roce.sh, --rounds",
        "benchmarks/beside-storage.sh,",
        "benchmarks/comch-modes.sh,",
        "benchmarks/syscalls.sh,",
        "interop/impaired.sh, --size",
        "interop/linux-roce.sh,"
    })
    void shouldReplaceControlCharactersOfARefusedArgument(
            String script, @Nullable String option, Processes processes) {
        ProcessBuilder builder = new ProcessBuilder(ProjectModules.ROOT.resolve(script).toString());
        if (option != null) {
            builder.command().add(option);
        }
        builder.command().add(HOSTILE);
        ChildProcess refused = processes.start(builder);

        assertThat(refused.awaitExit()).isBetween(1, 2);
        assertThat(refused.errorLines())
                .anyMatch(line -> line.contains(REPLACED))
                .noneMatch(line -> line.contains("\u001b") || line.startsWith("passed"));
    }

    @Test
    void shouldReplaceControlCharactersOfAVariable(Processes processes) throws IOException {
        ProcessBuilder builder = new LauncherFixture(folder).launcher();
        builder.environment().put("SOFTDPU_CACHE", HOSTILE);
        ChildProcess refused = processes.start(builder);

        assertThat(refused.awaitExit()).isEqualTo(1);
        assertThat(refused.errorLines())
                .containsExactly(
                        "softdpu: no absolute path of a folder to build in: folder="
                                + REPLACED
                                + ": set SOFTDPU_CACHE to one");
    }
}
