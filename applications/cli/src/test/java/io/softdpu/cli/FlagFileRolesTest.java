package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of storage programs whose flags are in files. */
@StartsProcesses
class FlagFileRolesTest {
    @TempDir Path folder;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text.replace('\'', '"'));
    }

    @Test
    @Clause({"sto-029", "sto-038"})
    void shouldRunTheThreeProgramsWithFlagsOfFilesAndOfTheCommandLine(Processes processes)
            throws IOException {
        Pipeline pipeline = new Pipeline(processes, folder.resolve("fabric"));
        Path ofTarget =
                file(
                        "target.json",
                        "{'doca_program_flags': {'device': 't0', 'cpu': ['any', 'any'],"
                                + " 'listen-port': 0, 'volume': 'memory:64MiB',"
                                + " 'block-size': 4096}}");
        ChildProcess target =
                pipeline.start("storage", "target", "-j", "" + ofTarget, "--volume", "memory:4MiB");
        String server = "127.0.0.1:" + Pipeline.portOf(target);
        Path ofService =
                file(
                        "service.json",
                        "{'doca_general_flags': {'log-level': 60},"
                                + " 'doca_program_flags': {'device': '03:00.0',"
                                + " 'representor': '0b:00.0', 'cpu': ['any', 'any'],"
                                + " 'storage-server': '"
                                + server
                                + "'}}");
        ChildProcess service = pipeline.start("storage", "zero-copy", "-j", "" + ofService);
        service.awaitLine("waiting: ");
        Path ofInitiator =
                file(
                        "initiator.json",
                        "{'doca_program_flags': {'device': '0b:00.0', 'cpu': 'any,any',"
                                + " 'execution-strategy': 'read_write_data_validity_test'}}");
        ChildProcess initiator = pipeline.start("storage", "initiator", "-j", "" + ofInitiator);
        assertThat(initiator.awaitExit()).isZero();
        assertThat(service.awaitExit()).isZero();
        assertThat(target.awaitExit()).isZero();
        assertThat(initiator.outputLines())
                .as("the volume of the command line")
                .anyMatch(line -> line.matches(" +bytes verified +" + (4 << 20)));
        assertThat(service.outputLines())
                .as("a data path thread for each element of the array")
                .anyMatch(line -> line.matches("  total .* MIOP/s .*"));
        assertThat(service.errorLines())
                .as("the log level of the file")
                .anyMatch(line -> line.endsWith("closing: device"));
    }
}
