package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Full file systems and low limits: the demo runs, or fails with an error that names the limit. */
@StartsProcesses
class LimitedMachineTest {
    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    /** Its memory has no file system of a limited size, and needs none. */
    @Test
    void shouldNeedNeitherSharedMemoryFilesNorLockedMemory() throws Exception {
        ChildProcess demo =
                inNamespace(
                        "mount -t tmpfs -o size=4k tmpfs /dev/shm"
                                + " && echo full > /dev/shm/full && ulimit -l 0",
                        demo());

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.OK.code());
    }

    @Test
    void shouldNameTheFolderWhereNoFurtherFileMayBeMade() throws Exception {
        ChildProcess demo =
                inNamespace("mount -t tmpfs -o nr_inodes=1 tmpfs '" + folder + "'", demo());

        assertFailed(
                demo,
                "softdpu: OPERATING_SYSTEM: shared folder cannot be created: parent="
                        + folder
                        + ".*No space left on device.*");
    }

    @Test
    void shouldNameTheFolderWhereNothingMayBeWritten() throws Exception {
        ChildProcess demo =
                inNamespace(
                        "mount -t tmpfs -o size=4k tmpfs '"
                                + folder
                                + "' && echo full > '"
                                + folder
                                + "/full'",
                        demo());

        assertFailed(demo, "softdpu: OPERATING_SYSTEM: demo failed: process=target, exit=1");
        assertThat(demo.errorLines())
                .anyMatch(line ->
                        line.matches(
                                " +softdpu: OPERATING_SYSTEM: fabric folder not usable: .*"
                                        + folder
                                        + ".*ENOSPC.*"));
    }

    /** RLIMIT_FSIZE holds for memory files, too; its signal, SIGXFSZ, must not end the process. */
    @Test
    void shouldNameTheMemoryThatIsLargerThanAFileMayBe() throws Exception {
        ChildProcess perf =
                limited(
                        "ulimit -f 2048",
                        Pipeline.command("perf comch bandwidth --size 1MiB".split(" "))
                                .withJvmOptions("-Djava.io.tmpdir=" + folder));

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(perf.errorLines())
                .anyMatch(line ->
                        line.matches(
                                "softdpu: NO_MEMORY: shared memory not available: name=.*,"
                                        + " sizeBytes=67108864, .*EFBIG.*"))
                .noneMatch(line -> line.startsWith("\tat "));
        assertThat(folder).isEmptyDirectory();
    }

    /** Sizes of options, of files and of many small pieces, each alone too much. */
    @Test
    void shouldBeginNothingThatNeedsMoreMemoryThanIsAvailable() throws Exception {
        Path sparse = folder.resolve("sparse");
        try (var file = new RandomAccessFile(sparse.toFile(), "rw")) {
            file.setLength(600L << 20);
        }
        List<String> ofFile =
                List.of(
                        "storage target -d t0 --cpu any --listen-port 0 --volume " + sparse,
                        "sample sha --file " + sparse,
                        "sample dma-copy-host --file " + sparse,
                        "demo --volume " + sparse);
        List<String> commands = new ArrayList<>(ofFile);
        commands.addAll(
                List.of(
                        "storage target -d t0 --cpu any --listen-port 0 --volume memory:500M",
                        "demo --size 300MiB",
                        "demo --size 3T",
                        "perf comch idle --clients 512",
                        "perf comch bandwidth --size 1MiB --window 512",
                        "perf rdma bandwidth --op write --size 512MiB"));

        List<Run> runs =
                RunsInChild.await(
                        inNamespace(
                                withAvailable(409600),
                                RunsInChild.command(commands)
                                        .withEnvironment(
                                                "SOFTDPU_FABRIC",
                                                folder.resolve("fabric").toString())));

        assertThat(runs).hasSameSizeAs(commands);
        for (int i = 0; i < runs.size(); i++) {
            assertThat(runs.get(i).exit()).as(commands.get(i)).isEqualTo(ExitCode.FAILED.code());
            assertThat(runs.get(i).outputLines()).noneMatch(line -> line.startsWith("listening"));
            assertThat(runs.get(i).errorLines())
                    .as(commands.get(i))
                    .noneMatch(line -> line.startsWith("\tat "))
                    .filteredOn(line -> line.startsWith("softdpu: "))
                    .singleElement()
                    .asString()
                    .matches(
                            "softdpu: NO_MEMORY: .* neededBytes=\\d+, availableBytes=419430400,"
                                    + " limitedBy=machine, expected=.*")
                    .contains(i < ofFile.size() ? sparse.toString() : "");
        }
    }

    /** Replaces what the kernel says of the machine's memory. */
    private String withAvailable(long kibibytes) {
        Path meminfo = folder.resolve("meminfo");
        return "printf 'MemTotal: 8388608 kB\\nMemAvailable: "
                + kibibytes
                + " kB\\n' > '"
                + meminfo
                + "' && mount --bind '"
                + meminfo
                + "' /proc/meminfo";
    }

    /** Memory that is populated in vain would have the kernel end some process. */
    @Test
    void shouldStartNothingWhoseMessagesNeedMoreMemoryThanIsAvailable() throws Exception {
        ChildProcess perf =
                inNamespace(
                        withAvailable(1048576),
                        Pipeline.command("perf comch bandwidth --size 1GiB".split(" ")));

        assertThat(perf.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(perf.errorLines())
                .first()
                .asString()
                .isEqualTo(
                        "softdpu: NO_MEMORY: processes need more memory than is available:"
                                + " measurement=bandwidth, neededBytes=2281701376,"
                                + " availableBytes=1073741824, limitedBy=machine, expected=a"
                                + " smaller size, window or import, or fewer clients");
    }

    /** The doctor fails for the reason for which the commands do. */
    @Test
    void shouldFindWhereNothingMayBeWritten() throws Exception {
        ChildProcess doctor =
                inNamespace(
                        "mount -t tmpfs -o size=4k tmpfs '"
                                + folder
                                + "' && echo full > '"
                                + folder
                                + "/full'",
                        Pipeline.command("doctor")
                                .withEnvironment("SOFTDPU_FABRIC", folder + "/fabric")
                                .withJvmOptions("-Djava.io.tmpdir=" + folder));

        assertThat(doctor.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(doctor.outputLines())
                .anyMatch(line -> line.matches("error +temporary folder .*ENOSPC.*"))
                .anyMatch(line -> line.matches("error +devices .*ENOSPC.*"))
                .anyMatch(line -> line.startsWith("softdpu cannot run here"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo --seconds 0.1", "perf comch rate --producers 4"})
    void shouldNameTheDescriptorsThatAreMissingBeforeAProcessStarts(String command)
            throws Exception {
        ChildProcess process = limited("ulimit -n 64", Pipeline.command(command.split(" ")));

        assertFailed(
                process,
                "softdpu: OPERATING_SYSTEM: too few descriptors for each process: command=.*,"
                        + " resource=RLIMIT_NOFILE, limit=64, expected=[0-9]+ or more.*");
    }

    /** More than it asks for, since the class path of the tests has more jars. */
    @Test
    void shouldRunTheDemoWithFewDescriptors() throws Exception {
        ChildProcess demo = limited("ulimit -n 128", demo());

        assertThat(demo.awaitExit()).as(demo::toString).isEqualTo(ExitCode.OK.code());
    }

    private JavaCommand demo() {
        return Pipeline.command("demo", "--size", "1MiB", "--seconds", "0.1")
                .withJvmOptions("-Djava.io.tmpdir=" + folder);
    }

    /** With mounts of its own, which only it sees and which go with it. */
    private ChildProcess inNamespace(String setUp, JavaCommand command) throws Exception {
        Process possible =
                new ProcessBuilder("unshare", "-Urm", "true").redirectErrorStream(true).start();
        if (!possible.waitFor(Patience.SECONDS, TimeUnit.SECONDS) || possible.exitValue() != 0) {
            possible.destroyForcibly();
            String reason = "no user namespace may be made here";
            System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
            Assumptions.abort(reason);
        }
        return processes.start(command.behind("unshare", "-Urm", "sh", "-c", script(setUp), "sh"));
    }

    private ChildProcess limited(String setUp, JavaCommand command) throws IOException {
        return processes.start(command.behind("sh", "-c", script(setUp), "sh"));
    }

    private static String script(String setUp) {
        return setUp + " && exec \"$@\"";
    }

    private static void assertFailed(ChildProcess process, String errorLine) {
        assertThat(process.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        List<String> said =
                process.errorLines().stream().filter(line -> line.startsWith("softdpu: ")).toList();
        assertThat(said).singleElement().asString().matches(errorLine);
        assertThat(process.errorLines()).noneMatch(line -> line.startsWith("\tat "));
    }
}
