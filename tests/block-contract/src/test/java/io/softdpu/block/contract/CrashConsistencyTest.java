package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * File volume below a volatile cache, whose process is killed, as a disk loses its cache with the
 * power: each block holds its content of the last acknowledged flush, or something written since.
 */
@StartsProcesses
class CrashConsistencyTest extends BlockContract {
    @TempDir Path own;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    private String file(boolean direct) {
        return "file:"
                + own.resolve("volume")
                + "?create="
                + Acknowledgements.BYTES
                + (direct ? "&direct" : "");
    }

    @Test
    @Tag(Soak.TAG)
    void shouldKeepWhatWasFlushedBeforeTheCacheIsLost(Processes processes, SeededRandom random) {
        long began = System.nanoTime();
        int kills = Soak.count(2, 10, 200);
        int lost = 0;
        for (int kill = 0; kill < kills; kill++) {
            String file = file(random.nextBoolean());
            long seed = random.nextLong();
            ChildProcess program =
                    processes.start(
                            JavaCommand.ofClass(FileKillProgram.class)
                                    .withEnvironment(
                                            "SOFTDPU_FABRIC", own.resolve("fabric").toString())
                                    .withArguments(
                                            "fault:seed=" + seed + ",volatile-cache:" + file,
                                            Long.toString(seed)));
            program.awaitLine("^[0-9]+ " + random.between(1, 400) + "\\b");
            program.kill();
            program.awaitExit();

            Acknowledgements acknowledged = new Acknowledgements(program.outputLines());
            try (BlockDevice device = BlockDevice.open(file, Acknowledgements.BLOCK_BYTES)) {
                device.attach(device());
                try (Submitter submitter = Submitter.start(device, 4)) {
                    byte[] all = submitter.bytes(0, Acknowledgements.BYTES);
                    assertThat(acknowledged.wrong(all, true)).isEmpty();
                    lost += acknowledged.lost(all);
                    submitter.write(0, new byte[Acknowledgements.BYTES]);
                    submitter.stop();
                }
            }
        }
        Soak.report(
                "crash-consistency",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                "kills=" + kills + ", unflushedBlocksLost=" + lost);
    }
}
