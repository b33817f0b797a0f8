package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * File volumes on a block device that loses what is written: a loop device over a file with holes,
 * on a tmpfs that is full. Needs root, and is skipped without.
 */
@StartsProcesses
class FileLossTest extends BlockContract {
    private static final String MEGABYTE = "1m";

    @TempDir Path own;

    private Processes processes;
    private Path disk;
    private String loop = "";

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    @BeforeEach
    void makeDisk(Processes processes) throws IOException {
        this.processes = processes;
        disk = Files.createDirectory(own.resolve("disk"));
        assumeTrue(
                exit("mount", "-t", "tmpfs", "-o", "size=" + MEGABYTE, "softdpu", disk.toString())
                        == 0,
                "root, who may mount");
        assertThat(exit("truncate", "-s", "16m", disk.resolve("blocks").toString())).isZero();
        ChildProcess setUp =
                processes.start(
                        new ProcessBuilder(
                                "losetup", "-f", "--show", disk.resolve("blocks").toString()));
        assumeTrue(setUp.awaitExit() == 0, "a free loop device");
        loop = setUp.outputLines().getFirst();
    }

    @AfterEach
    void removeDisk() {
        if (!loop.isEmpty()) {
            assertThat(exit("losetup", "-d", loop)).isZero();
        }
        if (Files.exists(disk.resolve("blocks"))) {
            assertThat(exit("umount", disk.toString())).isZero();
        }
    }

    private int exit(String... command) {
        return processes.start(new ProcessBuilder(command)).awaitExit();
    }

    private BlockDevice openLoop(String options) {
        BlockDevice device = BlockDevice.open("file:" + loop + options, 4096);
        device.attach(device());
        return device;
    }

    /** Writes more than the disk has room for; the page cache accepts all of it. */
    private static void overfill(Submitter submitter, SeededRandom random) {
        byte[] bytes = random.bytes(1 << 20);
        for (long at = 0; at < 4 << 20; at += bytes.length) {
            submitter.write(at, bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?threads=3"})
    @Tag(Soak.TAG)
    void shouldLetNoFlushSucceedBesideOrAfterALoss(String options, SeededRandom random) {
        int rounds = Soak.count(2, 20, 1000);
        for (int round = 0; round < rounds; round++) {
            try (BlockDevice device = openLoop(options);
                    Submitter one = Submitter.start(device, 4);
                    Submitter two = Submitter.start(device, 4)) {
                BlockIdentity identity = device.identity();
                overfill(one, random);
                List<BlockFlushTask> flushes =
                        List.of(
                                one.context.allocateFlush(),
                                two.context.allocateFlush(),
                                one.context.allocateFlush(),
                                two.context.allocateFlush());
                flushes.forEach(flush -> assertThat(flush.trySubmit()).isEqualTo(Status.SUCCESS));
                one.awaitEnd();
                two.awaitEnd();

                assertThat(flushes)
                        .allSatisfy(
                                flush -> assertThat(flush.status()).isEqualTo(Status.IO_FAILED));
                flushes.forEach(BlockFlushTask::free);
                assertThat(device.identity()).isNotEqualTo(identity);
                for (Submitter submitter : List.of(one, two)) {
                    assertThat(submitter.flush()).isEqualTo(Status.IO_FAILED);
                    assertThat(submitter.write(0, new byte[4096], true))
                            .isEqualTo(Status.IO_FAILED);
                    submitter.write(0, new byte[4096]);
                    submitter.stop();
                }
            }
        }
    }

    @Test
    void shouldFailAWriteForWhichThereIsNoRoomAndGoOnWhenThereIs(SeededRandom random)
            throws IOException {
        try (BlockDevice device = openLoop("?direct");
                Submitter submitter = Submitter.start(device, 4)) {
            byte[] bytes = random.bytes(2 << 20);
            Status full = submitter.write(0, bytes, false);
            assertThat(full).isEqualTo(Status.FULL);

            assertThat(exit("mount", "-o", "remount,size=32m", disk.toString())).isZero();
            submitter.write(0, bytes);
            assertThat(submitter.bytes(0, bytes.length)).isEqualTo(bytes);
            submitter.stop();
        }
    }

    @Test
    void shouldRefuseADeviceThatIsMounted() throws IOException {
        assertThat(exit("mount", "-o", "remount,size=32m", disk.toString())).isZero();
        assumeTrue(exit("mkfs.ext4", "-q", loop) == 0, "mkfs.ext4");
        Path mounted = own.resolve("mounted");
        Files.createDirectory(mounted);
        assertThat(exit("mount", loop, mounted.toString())).isZero();
        try {
            BlockDeviceContract.refuses(
                    Status.IN_USE,
                    () -> BlockDevice.open("file:" + loop + "?lock_wait=0"),
                    loop,
                    "mounted");
        } finally {
            assertThat(exit("umount", mounted.toString())).isZero();
        }
    }
}
