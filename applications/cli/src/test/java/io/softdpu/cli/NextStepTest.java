package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the usual first mistakes: the error, and the next step on the line after it. */
@ExtendWith(OwnFabric.class)
class NextStepTest {
    private static final String TARGET = "storage target --cpu any --volume memory:1M ";
    private static final String SERVICE =
            "storage zero-copy -d 03:00.0 --cpu any --control-timeout 0.2 ";
    private static final String INITIATOR =
            "storage initiator --cpu any --execution-strategy read_throughput_test"
                    + " --control-timeout 0.2 ";

    private final Path fabric = Path.of(System.getenv("SOFTDPU_FABRIC"));

    private ChildProcess start(Processes processes, String arguments) {
        return processes.start(
                JavaCommand.ofClass(SoftDpu.class)
                        .withEnvironment("SOFTDPU_FABRIC", fabric.toString())
                        .withArguments(arguments.strip().split(" +")));
    }

    private static void assertFails(String arguments, String error, String nextStep) {
        Run command = Run.of(arguments.strip().split(" +"));
        assertThat(command.exit()).isEqualTo(ExitCode.FAILED.code());
        List<String> errors =
                command.errorLines().stream().filter(line -> line.startsWith("softdpu: ")).toList();
        assertThat(errors).hasSize(2);
        assertThat(errors.getFirst()).startsWith("softdpu: " + error);
        assertThat(errors.getLast()).isEqualTo("softdpu: " + nextStep);
        assertThat(command.outputLines()).as("no statistics of nothing").isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                TARGET
                        + "-d t9 --listen-port 0|NOT_FOUND: no such device: device=t9,"
                        + "|see `softdpu devices` for the devices",
                "caps --device p9|NOT_FOUND: no such device: device=p9,"
                        + "|see `softdpu devices` for the devices",
                "sample pe-polling --device p9|NOT_FOUND: no such device: device=p9,"
                        + "|see `softdpu devices` for the devices",
                "devices --topology nosuch|NOT_FOUND: no such topology: file=nosuch,"
                        + "|`softdpu topology --topology default --json` prints a topology to start"
                        + " from",
                TARGET
                        + "-d t0 --listen-port 0 --cpu 4095|NOT_FOUND: no such processor: cpu=4095,"
                        + "|take one of these, or --cpu any, which leaves the choice to the"
                        + " scheduler",
                "storage target -d t0 --cpu any --listen-port 0 --volume nofile"
                        + "|NOT_FOUND: volume file is refused: file=nofile,"
                        + "|a volume of memory needs no file: `--volume memory:64MiB`",
                "storage target -d t0 --cpu any --listen-port 0 --binary-content nofile"
                        + "|NOT_FOUND: volume file is refused: file=nofile,"
                        + "|a volume of memory needs no file: `--volume memory:64MiB`",
                SERVICE
                        + "-r 0c:00.0 --storage-server 127.0.0.1:1"
                        + "|NOT_FOUND: no such representor: representor=0c:00.0,"
                        + "|see `softdpu topology` for the representors of each port",
                SERVICE
                        + "-r 0b:00.0 --storage-server 127.0.0.1:1"
                        + "|TIME_OUT: storage target did not reply: address=tcp://127.0.0.1:1,"
                        + "|start the target first: `softdpu storage target -d t0 --cpu any"
                        + " --listen-port 1 --volume memory:64MiB`",
                INITIATOR
                        + "-d 0b:00.0|NOT_FOUND: not connected: server=doca_storage_comch,"
                        + "|start the service first, with the same SOFTDPU_FABRIC: `softdpu storage"
                        + " zero-copy -d p0 --cpu any -r hpf0 --storage-server 127.0.0.1:12345`",
                INITIATOR
                        + "-d pf1 --command-channel-name blue|NOT_FOUND: not connected:"
                        + " server=blue,|start the service first, with the same SOFTDPU_FABRIC:"
                        + " `softdpu storage zero-copy -d p1 --cpu any -r hpf1 --storage-server"
                        + " 127.0.0.1:12345 --command-channel-name blue`"
            })
    void shouldNameTheNextStep(String arguments, String error, String nextStep) {
        assertFails(arguments, error, nextStep);
    }

    @Test
    void shouldNameTheFreePortWhereOneIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(taken.getLocalPort());
            assertFails(
                    TARGET + "-d t0 --listen-port " + port,
                    "IN_USE: port is taken: address=127.0.0.1:" + port,
                    "take another port, or `--listen-port 0` for a free one, which is printed");
        }
    }

    @Test
    void shouldRefuseAFolderOfAnotherProgramInEachCommandThatUsesOne() throws Exception {
        Files.createDirectories(fabric);
        Path other = Files.createFile(fabric.resolve("passwd"));
        for (String arguments :
                List.of(
                        "caps",
                        "devices",
                        "sample workq",
                        TARGET + "-d t0 --listen-port 0",
                        INITIATOR + "-d 0b:00.0")) {
            assertFails(
                    arguments,
                    "NOT_PERMITTED: fabric folder holds a file that is not the fabric's: path="
                            + fabric
                            + ", file=passwd, ",
                    "see `softdpu doctor`, or set SOFTDPU_FABRIC to a new folder");
        }
        try (var files = Files.list(fabric)) {
            assertThat(files).containsExactly(other);
        }
    }

    @Test
    @StartsProcesses
    void shouldNameTheServersThatAreThereInsteadAndWaitOnOneLineOfTheLog(Processes processes) {
        ChildProcess target = start(processes, TARGET + "-d t0 --listen-port 0");
        String port =
                target.awaitLine("^listening: port=\\d+$").replaceFirst("^listening: port=", "");
        ChildProcess service =
                start(
                        processes,
                        "storage zero-copy -d p0 --cpu any -r hpf0 --command-channel-name blue"
                                + " --storage-server 127.0.0.1:"
                                + port);
        service.awaitErrorLine(".*waiting for an initiator at comch://blue$");

        assertFails(
                INITIATOR + "-d pf0",
                "NOT_FOUND: not connected: server=doca_storage_comch,",
                "start the service first, with the same SOFTDPU_FABRIC: `softdpu storage zero-copy"
                        + " -d p0 --cpu any -r hpf0 --storage-server 127.0.0.1:12345`");
        ChildProcess initiator = start(processes, INITIATOR + "-d pf0");
        initiator.awaitErrorLine("^softdpu: .*, served=\\[blue for host/pf0], .*$");
        assertThat(target.errorLines())
                .filteredOn(line -> line.contains("waiting for a zero-copy service at "))
                .singleElement()
                .asString()
                .contains("INFO");
    }

    @Test
    @StartsProcesses
    void shouldMakeNoFabricFolderWithoutANeedForOne(@TempDir Path folder, Processes processes) {
        Path none = folder.resolve("fabric");
        for (String arguments : List.of("topology", "help", "completion bash", "sample --list")) {
            ChildProcess command =
                    processes.start(
                            JavaCommand.ofClass(SoftDpu.class)
                                    .withEnvironment("SOFTDPU_FABRIC", none.toString())
                                    .withArguments(arguments.split(" ")));
            assertThat(command.awaitExit()).isZero();
        }
        assertThat(none).doesNotExist();
    }
}
