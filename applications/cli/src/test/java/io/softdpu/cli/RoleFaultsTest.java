package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.memory.SbcHeader;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of a role that cannot start its session. */
@ExtendWith(OwnFabric.class)
class RoleFaultsTest {
    @TempDir Path folder;

    @Test
    void shouldAnswerAnUnknownDeviceWithThoseThereAre() {
        assertFails(initiator("-d", "0c:00.0"), "softdpu: NOT_FOUND: .*0c:00.0.*pf0.*pf1vf0.*");
    }

    @Test
    void shouldNameAPlainContentThatIsMissingBeforeItLooksForAService() {
        Path missing = folder.resolve("missing");

        assertFails(
                Run.of(
                        ("storage initiator -d pf0 --cpu any --execution-strategy"
                                        + " read_only_data_validity_test --storage-plain-content "
                                        + missing)
                                .split(" ")),
                "softdpu: NOT_FOUND: plain content .*" + missing + ".*");
    }

    @Test
    void shouldNotFindTheDeviceOfAnotherSide() {
        assertFails(
                Run.of(
                        "storage target -d pf0 --cpu any --listen-port 0 --volume memory:1M"
                                .split(" ")),
                "softdpu: NOT_FOUND: .*pf0.*t0.*");
    }

    @Test
    void shouldAnswerAnUnknownCoreBeforeAPeerMayCome() {
        assertFails(
                Run.of(
                        "storage target -d t0 --cpu 4095 --listen-port 0 --volume memory:1M"
                                .split(" ")),
                "softdpu: NOT_FOUND: .*cpu=4095, available=.*");
    }

    @Test
    void shouldNameTheFieldOfABinaryContentThatIsCut() throws IOException {
        byte[] cut =
                ByteBuffer.allocate(16 + 128 * 4096 - 1)
                        .putLong(SbcHeader.MAGIC)
                        .putInt(4096)
                        .putInt(128)
                        .array();
        Path file = Files.write(folder.resolve("cut"), cut);

        assertFails(
                Run.ofWords(
                        "storage target -d t0 --cpu any --listen-port 0 --binary-content " + file),
                "softdpu: INVALID_VALUE: binary content is refused: file="
                        + file
                        + ", field=content, offsetBytes=16, sizeBytes=524287, expected=524288.*");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--control-timeout 0",
                "--cpu one",
                "--wait event",
                "--progress never",
                "--output-format xml",
                "--no-such-flag"
            })
    @Clause("sto-045")
    void shouldTouchNoDeviceNameOrPortWhereAFlagIsWrong(String wrong) throws IOException {
        try (ServerSocketChannel target = ServerSocketChannel.open()) {
            target.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            target.configureBlocking(false);
            Run run =
                    service(
                            "-d 03:00.0 -r 0b:00.0",
                            "--storage-server 127.0.0.1:"
                                    + target.socket().getLocalPort()
                                    + " "
                                    + wrong);

            assertThat(run.exit()).isEqualTo(ExitCode.USAGE.code());
            assertThat(run.errorLines()).noneMatch(line -> line.contains("Open doca_dev"));
            assertThat(target.accept()).isNull();
            assertThat(Path.of(System.getenv("SOFTDPU_FABRIC")))
                    .satisfiesAnyOf(
                            folder -> assertThat(folder).doesNotExist(),
                            folder -> assertThat(folder).isEmptyDirectory());
        }
    }

    @Test
    @Clause({"sto-122", "sto-123"})
    void shouldLogTheDeviceAndTheRepresentorThatItOpens() {
        Run run = toNoTarget("any");

        assertThat(run.errorLines())
                .filteredOn(line -> line.contains("Open doca_dev"))
                .satisfiesExactly(
                        line ->
                                assertThat(line)
                                        .contains("INFO")
                                        .endsWith("Open doca_dev: 03:00.0"),
                        line ->
                                assertThat(line)
                                        .contains("INFO")
                                        .endsWith("Open doca_dev_rep: 0b:00.0"));
    }

    @Test
    void shouldAnswerAnUnknownCoreAmongSeveral() {
        int core = Affinity.allowed().nextSetBit(0);
        assertFails(
                Run.ofWords(
                        "storage target -d t0 --listen-port 0 --volume memory:1M --cpu any,"
                                + core
                                + ",4095"),
                "softdpu: NOT_FOUND: .*cpu=4095, available=.*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"N,N", "N,any,prefer:N,N"})
    void shouldWarnOnceOfAProcessorThatIsNamedTwice(String cpus) {
        int core = Affinity.allowed().nextSetBit(0);
        Run run = toNoTarget(cpus.replace("N", Integer.toString(core)));

        assertThat(run.errorLines())
                .filteredOn(line -> line.contains("WARNING"))
                .singleElement()
                .asString()
                .contains("poll on one processor: option=--cpu, processors=[" + core + "], cpus=[");
    }

    @Test
    void shouldNotWarnOfThreadsWithoutAffinity() {
        int core = Affinity.allowed().nextSetBit(0);

        assertThat(toNoTarget("any,any,any,prefer:" + core).errorLines())
                .noneMatch(line -> line.contains("poll on one processor"));
    }

    /** A service that finds no target, soon. */
    private static Run toNoTarget(String cpus) {
        Run run =
                Run.ofWords(
                        "storage zero-copy -d 03:00.0 -r 0b:00.0 --storage-server 127.0.0.1:1"
                                + " --control-timeout 0.1 --cpu "
                                + cpus);
        assertFails(run, "softdpu: TIME_OUT: .*");
        return run;
    }

    @ParameterizedTest
    @CsvSource({
        "-d 03:00.0 -r 3b:00.0, representor=3b:00.0.*hpf0",
        "-d 03:00.0 --representor 3b:00.0, representor=3b:00.0.*hpf0",
        "-d 3b:00.0 -r 0b:00.0, device=3b:00.0.*p0"
    })
    @Clause({"sto-031", "sto-037", "sto-049"})
    void shouldAnswerAnUnknownDeviceOrRepresentorOfTheServiceWithThoseThereAre(
            String flags, String reason) {
        assertFails(
                service(flags, "--storage-server 127.0.0.1:1"),
                "softdpu: NOT_FOUND: .*" + reason + ".*");
    }

    @Test
    @Clause({"sto-006", "sto-033", "sto-035"})
    void shouldLookForTheTargetAtTheAddressAndForTheTimeThatItIsTold() {
        assertFails(
                service(
                        "-d 03:00.0 -r 0b:00.0",
                        "--storage-server 127.0.0.2:1 --control-timeout 0.25"),
                "softdpu: TIME_OUT: .*address=tcp://127.0.0.2:1, waitedMillis=250, .*");
    }

    private static Run service(String flags, String more) {
        return Run.of(("storage zero-copy --cpu any " + flags + " " + more).split(" "));
    }

    @Test
    void shouldSayNotFoundWhenNobodyServesThatNameUntilTheTimeout() {
        long begin = System.nanoTime();

        assertFails(
                initiator("-d", "pf0", "--command-channel-name", "nobody"),
                "softdpu: NOT_FOUND: .*nobody.*");
        assertThat(System.nanoTime() - begin)
                .as("it tried until the connect timeout")
                .isGreaterThan(500_000_000L);
    }

    @Test
    void shouldNameThePortThatIsTaken() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            assertFails(
                    Run.of(
                            ("storage target -d t0 --cpu any --volume memory:1M --listen-port "
                                            + taken.getLocalPort())
                                    .split(" ")),
                    "softdpu: IN_USE: .*" + taken.getLocalPort() + ".*");
        }
    }

    @Test
    void shouldNameAVolumeThatIsMissingEmptyADirectoryOrNoMultipleOfTheBlockSize()
            throws IOException {
        Path missing = folder.resolve("missing");
        Path empty = Files.createFile(folder.resolve("empty"));
        Path odd = Files.write(folder.resolve("odd"), new byte[5000]);

        assertFails(withVolume(missing), "softdpu: NOT_FOUND: .*" + missing + ".*not exist.*");
        assertFails(withVolume(empty), "softdpu: INVALID_VALUE: .*" + empty + ".*empty.*");
        assertFails(withVolume(folder), "softdpu: INVALID_VALUE: .*" + folder + ".*directory.*");
        assertFails(
                withVolume(odd), "softdpu: INVALID_VALUE: .*" + odd + ".*5000.*multiple of 4096.*");
    }

    @Test
    @StartsProcesses
    void shouldNameAVolumeThatThisUserMayNotRead(Processes processes) throws IOException {
        OtherUser nobody = OtherUser.nobody();
        Path open =
                Files.createTempDirectory(
                        "softdpu-test",
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwxr-xr-x")));
        try {
            Path secret = Files.write(open.resolve("secret"), new byte[4096]);
            Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
            JavaCommand command =
                    Pipeline.command(
                                    "storage",
                                    "target",
                                    "-d",
                                    "t0",
                                    "--cpu",
                                    "any",
                                    "--listen-port",
                                    "0",
                                    "--volume",
                                    secret.toString())
                            .as(nobody)
                            .withEnvironment("SOFTDPU_FABRIC", open.resolve("fabric").toString());
            Path own = Files.createDirectory(open.resolve("fabric"));
            Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwx------"));
            nobody.own(own);

            ChildProcess target = processes.start(command);
            int exit = target.awaitExit();
            assertFails(
                    new Run(exit, target.outputLines(), target.errorLines()),
                    "softdpu: NOT_PERMITTED: .*" + secret + ".*");
        } finally {
            deleteTree(open);
        }
    }

    private static Run withVolume(Path volume) {
        return Run.of(
                "storage",
                "target",
                "-d",
                "t0",
                "--cpu",
                "any",
                "--listen-port",
                "0",
                "--volume",
                volume.toString());
    }

    private static Run initiator(String... more) {
        String[] fixed =
                ("storage initiator --cpu any --execution-strategy read_throughput_test"
                                + " --control-timeout 0.5")
                        .split(" ");
        String[] all = new String[fixed.length + more.length];
        System.arraycopy(fixed, 0, all, 0, fixed.length);
        System.arraycopy(more, 0, all, fixed.length, more.length);
        return Run.of(all);
    }

    private static void assertFails(Run run, String errorLine) {
        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.errorLines())
                .filteredOn(line -> line.matches("softdpu: [A-Z_]+: .*")) // without the next step
                .singleElement()
                .asString()
                .matches(errorLine);
        assertThat(run.errorLines()).noneMatch(line -> line.startsWith("\tat "));
        assertThat(run.outputLines()).noneMatch(line -> line.startsWith("listening"));
    }

    private static void deleteTree(Path root) throws IOException {
        try (var tree = Files.walk(root)) {
            for (Path path : tree.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
