package io.softdpu.block.contract;

import static io.softdpu.block.contract.BlockDeviceContract.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * File volumes of a process that is killed: what it has acknowledged is there, and the next process
 * gets the volume at once.
 */
@StartsProcesses
class FileKillTest extends BlockContract {
    private static final int BLOCK_BYTES = Acknowledgements.BLOCK_BYTES;

    @TempDir Path own;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    private String uri(String options) {
        return "file:" + own.resolve("volume") + "?create=" + Acknowledgements.BYTES + options;
    }

    private ChildProcess start(String options, long seed) {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(FileKillProgram.class)
                                .withEnvironment("SOFTDPU_FABRIC", own.resolve("fabric").toString())
                                .withArguments(uri(options), Long.toString(seed)));
        program.awaitLine("OPEN");
        return program;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&direct", "&threads=2"})
    @Tag(Soak.TAG)
    void shouldKeepWhatAKilledProcessHasAcknowledged(String options, SeededRandom random) {
        int kills = Soak.count(2, 10, 200);
        BlockIdentity identity = null;
        for (int kill = 0; kill < kills; kill++) {
            ChildProcess program = start(options, random.nextLong());
            program.awaitLine("^[0-9]+ " + random.between(1, 400) + "\\b");
            program.kill();
            program.awaitExit();

            try (BlockDevice device = BlockDevice.open(uri(options), BLOCK_BYTES)) {
                device.attach(device());
                try (Submitter submitter = Submitter.start(device, 4)) {
                    byte[] all = submitter.bytes(0, Acknowledgements.BYTES);
                    assertThat(new Acknowledgements(program.outputLines()).wrong(all, false))
                            .isEmpty();
                    submitter.write(0, new byte[Acknowledgements.BYTES]);
                    submitter.stop();
                }
                assertThat(identity == null || device.identity().equals(identity)).isTrue();
                identity = device.identity();
            }
        }
    }

    @Test
    void shouldExcludeAProcessAndItsRequestsUntilItIsKilled(SeededRandom random) {
        ChildProcess program = start("", random.nextLong());
        program.freeze();
        refuses(
                Status.IN_USE,
                () -> BlockDevice.open(uri("&lock_wait=0"), BLOCK_BYTES),
                own.toString(),
                "pids=[" + program.pid() + "]");
        program.kill();

        BlockDevice.open(uri(""), BLOCK_BYTES).close();
    }

    @Test
    void shouldTakeOverFromAProcessThatIsKilledMeanwhile(SeededRandom random) {
        ChildProcess first = start("", random.nextLong());
        ChildProcess standby =
                processes.start(
                        JavaCommand.ofClass(FileKillProgram.class)
                                .withEnvironment("SOFTDPU_FABRIC", own.resolve("other").toString())
                                .withArguments(uri("&lock_wait=600"), "1"));
        first.kill();
        standby.awaitLine("OPEN");
        standby.kill();
    }
}
