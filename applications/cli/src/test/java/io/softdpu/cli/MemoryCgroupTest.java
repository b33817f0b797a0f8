package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands in a memory cgroup of 400 MiB, of version 1 or 2: one that needs more is refused, where
 * the kernel would kill it. Needs the right to make one.
 */
@StartsProcesses
class MemoryCgroupTest {
    private static final long LIMIT_BYTES = 400 << 20;
    private static final Path VERSION_1 = Path.of("/sys/fs/cgroup/memory");
    private static final Path VERSION_2 = Path.of("/sys/fs/cgroup");

    @TempDir Path folder;

    private final Deque<Path> made = new ArrayDeque<>();
    private Processes processes;

    /** The one with the limit. */
    private Path outer;

    /** Below it, without one. */
    private Path inner;

    @BeforeEach
    void makeCgroups(Processes processes) {
        this.processes = processes;
        boolean isVersion1 = Files.isDirectory(VERSION_1);
        try {
            outer =
                    Files.createDirectory(
                            (isVersion1 ? VERSION_1 : VERSION_2)
                                    .resolve("softdpu-test-" + ProcessHandle.current().pid()));
            made.push(outer);
            Files.writeString(
                    outer.resolve(isVersion1 ? "memory.limit_in_bytes" : "memory.max"),
                    Long.toString(LIMIT_BYTES));
            if (!isVersion1) {
                Files.writeString(outer.resolve("cgroup.subtree_control"), "+memory");
                if (Files.exists(outer.resolve("memory.swap.max"))) {
                    Files.writeString(outer.resolve("memory.swap.max"), "0");
                }
            }
            inner = Files.createDirectory(outer.resolve("inner"));
            made.push(inner);
        } catch (IOException e) {
            String reason = "no memory cgroup may be made here: " + e;
            System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
            Assumptions.abort(reason);
        }
    }

    @AfterEach
    void removeCgroups() {
        for (Path cgroup : made) { // busy until the kernel has forgotten its processes
            Await.until("removal of " + cgroup, () -> remove(cgroup));
        }
    }

    @Test
    void shouldRefuseWhatDoesNotFitInACgroup() {
        List<String> commands =
                List.of(
                        "storage target -d t0 --cpu any --listen-port 0 --volume memory:500M",
                        "storage target -d t0 --cpu any --listen-port 0 --volume memory:395M",
                        "demo --size 300MiB",
                        "perf comch idle --clients 512");

        List<Run> runs = RunsInChild.await(inCgroup(RunsInChild.command(commands)));

        assertThat(runs).hasSameSizeAs(commands);
        for (int i = 0; i < runs.size(); i++) {
            assertThat(runs.get(i).exit()).as(commands.get(i)).isEqualTo(ExitCode.FAILED.code());
            assertThat(runs.get(i).errorLines())
                    .as(commands.get(i))
                    .anyMatch(line ->
                            line.matches(
                                    "softdpu: NO_MEMORY: .* neededBytes=\\d+, availableBytes=\\d+,"
                                            + " limitedBy=cgroup, folder="
                                            + outer
                                            + "(/inner)?, limitBytes="
                                            + LIMIT_BYTES
                                            + ", expected=.*"));
            assertThat(runs.get(i).outputLines()).noneMatch(line -> line.startsWith("listening"));
        }
    }

    @Test
    void shouldServeAVolumeThatFits() {
        ChildProcess target =
                inCgroup(
                        Pipeline.command(
                                "storage target -d t0 --cpu any --listen-port 0 --volume memory:200M"
                                        .split(" ")));

        target.awaitLine("listening: port=");

        target.signal("TERM");
        assertThat(target.awaitExit()).isNotEqualTo(137);
    }

    private ChildProcess inCgroup(JavaCommand command) {
        return processes.start(
                command.withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                        .behind(
                                "sh",
                                "-c",
                                "echo $$ > '" + inner.resolve("cgroup.procs") + "' && exec \"$@\"",
                                "sh"));
    }

    private static boolean remove(Path cgroup) {
        try {
            Files.delete(cgroup);
            return true;
        } catch (IOException busy) {
            return false;
        }
    }
}
