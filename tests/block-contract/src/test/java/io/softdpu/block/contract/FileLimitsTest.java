package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** File volumes of a process with little of what a system limits: errors that name it. */
@StartsProcesses
class FileLimitsTest {
    @TempDir Path folder;

    private Processes processes;
    private Path volumes;

    @BeforeEach
    void setUp(Processes processes) throws IOException {
        this.processes = processes;
        volumes = Files.createDirectory(folder.resolve("volumes"));
    }

    private JavaCommand program(String doing) {
        return JavaCommand.ofClass(FileLimitsProgram.class)
                .withJvmOptions("-XX:-UsePerfData")
                .withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                .withArguments(doing, volumes.toString());
    }

    private ChildProcess run(JavaCommand command) {
        ChildProcess program = processes.start(command);
        assertThat(program.awaitExitWhileItPrints())
                .as(String.join("\n", program.errorLines()))
                .isZero();
        assertThat(program.outputLines())
                .contains("DONE")
                .noneMatch(line -> line.startsWith("PROBLEM"));
        return program;
    }

    /** Also its signal, SIGXFSZ, which ends a process unless it is ignored, of kernel threads. */
    @Test
    void shouldBeFullWhereAFileMayNotBeLonger() {
        String uri =
                "file:" + volumes.resolve("volume") + "?create=" + FileLimitsProgram.LARGE_BYTES;
        BlockDevice.open(uri).close();

        ChildProcess program =
                run(program("size").behind("prlimit", "--fsize=" + FileLimitsProgram.FILE_BYTES));

        assertThat(program.outputLines())
                .filteredOn(line -> line.startsWith("within="))
                .hasSameSizeAs(FileLimitsProgram.OPTIONS)
                .containsOnly(
                        "within=SUCCESS across=FULL beyond=FULL fua=FULL flush=SUCCESS"
                                + " read=SUCCESS again=SUCCESS");
        assertThat(program.outputLines())
                .anyMatch(line -> line.matches(".*" + volumes.resolve("new") + ".*EFBIG.*"))
                .contains("files=[volume]");
        assertThat(program.errorLines())
                .anyMatch(line -> line.matches(".*operation=WRITE, errno=.*EFBIG.*"));
    }

    /** The program looks for what is left. */
    @Test
    void shouldNameTheDescriptorsThatAreMissingAndLeaveNothing() {
        new FileEnvironment("", "io_uring").open(folder, 4096, 4096).close(); // skips without
        ChildProcess program = run(program("descriptors"));

        String start = ".*NO_MEMORY: file of a block device has failed: .*=start of a context, ";
        assertThat(program.outputLines())
                .anyMatch(line -> line.matches(start + "failure=open failed: .*EMFILE.*"))
                .anyMatch(line -> line.matches(start + "failure=io_uring_setup failed: .*EMFILE.*"))
                .anyMatch(line -> line.matches("options= free=[0-9]+ io_uring"))
                .anyMatch(line -> line.matches("options=&direct free=[0-9]+ io_uring"))
                .anyMatch(line -> line.matches("options=&threads=2 free=[0-9]+ threads"));
    }

    /** Where the kernel counts rings, threads take their place. */
    @Test
    void shouldWorkWithoutLockedMemory() throws IOException {
        OtherUser nobody = OtherUser.nobody(); // root may lock any memory
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        nobody.own(volumes);

        ChildProcess program =
                run(
                        program("memory")
                                .withEnvironment(
                                        "SOFTDPU_FABRIC", volumes.resolve("fabric").toString())
                                .as(nobody)
                                .behind("prlimit", "--memlock=0:0"));

        assertThat(program.outputLines())
                .filteredOn(line -> !line.equals("DONE"))
                .hasSameSizeAs(FileLimitsProgram.OPTIONS)
                .allMatch(line ->
                        line.startsWith("io_uring ")
                                || line.matches("threads .*refused: .*ENOMEM.*ulimit -l.*")
                                || line.matches("threads .*[(]method=threads, threads=2, .*"));
    }
}
