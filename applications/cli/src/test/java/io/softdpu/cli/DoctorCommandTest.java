package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.softdpu.cli.doctor.Finding;
import io.softdpu.cli.doctor.Finding.Grade;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code softdpu doctor}. */
@StartsProcesses
class DoctorCommandTest {
    private static final Finding GOOD = new Finding("JDK", Grade.OK, "version=25", null);
    private static final Finding SLOW = new Finding("clock", Grade.WARNING, "hpet", "take tsc");
    private static final Finding BAD = new Finding("memory", Grade.ERROR, "none", "buy some");

    @TempDir Path folder;

    private ChildProcess doctor(Processes processes, Path fabric, String... arguments) {
        return processes.start(
                JavaCommand.ofClass(SoftDpu.class)
                        .withEnvironment("SOFTDPU_FABRIC", fabric.toString())
                        .withArguments("doctor")
                        .withArguments(arguments));
    }

    @Test
    void shouldPrintEachFindingWithItsRemedyAndWhetherSoftdpuCanRun() {
        assertThat(printed(List.of(GOOD, SLOW)))
                .containsExactly(
                        "ok       JDK                   version=25",
                        "warning  clock                 hpet",
                        "                               -> take tsc",
                        "softdpu can run here: errors=0, warnings=1");
        assertThat(printed(List.of(BAD, SLOW)))
                .endsWith("softdpu cannot run here: errors=1, warnings=1");
        assertThat(DoctorCommand.hasError(List.of(GOOD, SLOW))).isFalse();
        assertThat(DoctorCommand.hasError(List.of(GOOD, BAD))).isTrue();
    }

    private static List<String> printed(List<Finding> findings) {
        StringWriter out = new StringWriter();
        DoctorCommand.print(findings, new PrintWriter(out));
        return out.toString().lines().toList();
    }

    @Test
    void shouldFailWhereTheFabricFolderIsRefusedAndCreateNothing(Processes processes)
            throws Exception {
        Path fabric = Files.createDirectory(folder.resolve("fabric"));
        Files.createFile(fabric.resolve("passwd"));
        ChildProcess refused = doctor(processes, fabric);
        assertThat(refused.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(refused.outputLines())
                .anyMatch(line ->
                        line.startsWith("error    fabric folder") && line.contains("file=passwd"));

        ChildProcess relative = doctor(processes, Path.of("relative"));
        assertThat(relative.awaitExit()).isEqualTo(ExitCode.FAILED.code());

        Path missing = folder.resolve("missing");
        ChildProcess fine = doctor(processes, missing, "--json", "-");
        fine.awaitExit();
        assertThat(missing).doesNotExist();
        assertThat(folder).isDirectoryNotContaining("glob:**softdpu-doctor-*");
        JsonNode json = new JsonMapper().readTree(String.join("\n", fine.outputLines()));
        assertThat(json.path("checks").size()).isGreaterThan(10);
        assertThat(json.path("can_run").isBoolean()).isTrue();
    }

    @Test
    void shouldNameTheProcessThatHoldsThePortOfRoce(Processes processes) throws Exception {
        byte[] bytes = {127, 0, 0, 0};
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 1; i < bytes.length; i++) {
            bytes[i] = (byte) random.nextInt(1, 255); // no other test has the address
        }
        InetAddress address = InetAddress.getByAddress(bytes);
        Path card =
                Files.writeString(
                        folder.resolve("card.json"),
                        Text.format(
                                """
                                {"softdpu_topology": 1, "name": "alone", "functions": [
                                  {"side": "target", "interface_name": "t0",
                                   "ibdev_name": "mlx5_7", "function_type": "PF",
                                   "pci_address": "41:00.0", "ipv4": "%s",
                                   "mac": "02:53:44:41:00:01", "vuid": "alone-t0",
                                   "active_rate_bits_per_second": 100000000000}
                                ]}
                                """,
                                address.getHostAddress()));
        try (DatagramSocket held = new DatagramSocket(new InetSocketAddress(address, 4791))) {
            assertThat(held.isBound()).isTrue();
            ChildProcess doctor =
                    processes.start(
                            JavaCommand.ofClass(SoftDpu.class)
                                    .withEnvironment(
                                            "SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                                    .withEnvironment("SOFTDPU_TOPOLOGY", card.toString())
                                    .withArguments("doctor"));
            doctor.awaitExit();
            assertThat(doctor.outputLines())
                    .anyMatch(line ->
                            line.startsWith("warning  RoCE target mlx5_7")
                                    && line.contains("ipv4=" + address.getHostAddress() + ",")
                                    && line.contains(
                                            "port=4791 held by process "
                                                    + ProcessHandle.current().pid()
                                                    + ","));
        }
    }

    @Test
    void shouldShowAndRemoveWhatAKilledProcessHasLeft(Processes processes) throws Exception {
        Path fabric = Files.createDirectory(folder.resolve("fabric"));
        Path lock = Files.createFile(fabric.resolve("0123456789abcdef.lock"));
        Path socket = Files.createFile(fabric.resolve("0123456789abcdef.sock"));

        ChildProcess shows = doctor(processes, fabric);
        assertThat(shows.awaitExit()).isZero();
        assertThat(shows.outputLines())
                .anyMatch(line -> line.matches("ok +devices +topology=default, devices=[0-9]+"))
                .anyMatch(line ->
                        line.matches(
                                "ok +block devices +method=io_uring"
                                        + "|warning +block devices +method=threads, reason=.+"))
                .anyMatch(line ->
                        line.startsWith("warning  leftovers")
                                && line.endsWith("files=1, first=0123456789abcdef.lock"));
        assertThat(lock).exists();

        ChildProcess removes = doctor(processes, fabric, "--remove-leftovers");
        removes.awaitExit();
        assertThat(lock).doesNotExist();
        assertThat(socket).doesNotExist();
        assertThat(fabric).isEmptyDirectory();
    }
}
