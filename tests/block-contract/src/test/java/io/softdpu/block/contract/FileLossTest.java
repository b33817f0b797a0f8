package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    /** Writes more than the disk has room for by another open file, which is told of the loss. */
    private static void lose(FileChannel other, SeededRandom random) {
        ByteBuffer bytes = ByteBuffer.wrap(random.bytes(1 << 20));
        assertThatThrownBy(
                        () -> {
                            for (long at = 4 << 20; at < 8 << 20; at += bytes.capacity()) {
                                other.write(bytes.rewind(), at);
                            }
                            other.force(false);
                        })
                .isInstanceOf(IOException.class);
    }

    private static Status run(Submitter submitter, String kind) {
        return switch (kind) {
            case "flush" -> submitter.flush();
            case "fua" -> submitter.write(0, new byte[4096], true);
            case "zeroes" ->
                    submitter.run(submitter.context.allocateWriteZeroes(0, 4096).setFua(true));
            default -> submitter.write(0, new byte[4096], false);
        };
    }

    /**
     * Each context learns of it by its own open file; one that starts afterwards, to which the
     * kernel tells nothing, by that of the device. Also where the disk itself writes durably.
     */
    @ParameterizedTest
    @CsvSource({
        "'', flush",
        "'', fua",
        "?sync, write",
        "?direct, fua",
        "?direct, flush",
        "?threads=2, flush",
        "?direct&threads=2, fua"
    })
    void shouldLearnOfALossThatAnotherWasToldOf(String options, String kind, SeededRandom random)
            throws IOException {
        for (boolean late : new boolean[] {false, true}) {
            try (BlockDevice device = openLoop(options);
                    FileChannel other = FileChannel.open(Path.of(loop), StandardOpenOption.WRITE);
                    Submitter early = Submitter.start(device, 4)) {
                early.write(0, new byte[4096]); // there is room for it
                assertThat(early.flush()).isEqualTo(Status.SUCCESS);
                BlockIdentity identity = device.identity();
                lose(other, random);
                try (Submitter one = late ? Submitter.start(device, 4) : early) {
                    assertThat(run(one, kind)).as("late=%s", late).isEqualTo(Status.IO_FAILED);
                    assertThat(device.identity()).isNotEqualTo(identity);
                    assertThat(one.flush()).isEqualTo(Status.IO_FAILED);
                    one.stop();
                }
                if (late) {
                    assertThat(early.flush()).isEqualTo(Status.IO_FAILED);
                    early.stop();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?threads=3"})
    @Tag(Soak.TAG)
    void shouldLetNoDurableWriteSucceedBesideOrAfterALoss(String options, SeededRandom random) {
        int rounds = Soak.count(2, 20, 1000);
        for (int round = 0; round < rounds; round++) {
            try (BlockDevice device = openLoop(options);
                    Submitter submitter = Submitter.start(device, 8)) {
                overfill(submitter, random);
                List<BlockWriteTask> writes = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    writes.add(
                            submitter
                                    .context
                                    .allocateWrite(i << 19, submitter.data(i << 12, 4096))
                                    .setFua(true));
                }
                BlockFlushTask flush = submitter.context.allocateFlush();
                assertThat(flush.trySubmit()).isEqualTo(Status.SUCCESS);
                writes.forEach(write -> assertThat(write.trySubmit()).isEqualTo(Status.SUCCESS));
                submitter.awaitEnd();

                assertThat(flush.status()).isEqualTo(Status.IO_FAILED);
                assertThat(writes)
                        .allSatisfy(
                                write -> assertThat(write.status()).isEqualTo(Status.IO_FAILED));
                flush.free();
                writes.forEach(write -> {
                    write.source().release();
                    write.free();
                });
                assertThat(submitter.write(0, new byte[4096], true)).isEqualTo(Status.IO_FAILED);
                submitter.stop();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"?direct, false", "?direct, true", "?direct&threads=2, true"})
    void shouldFailAWriteForWhichThereIsNoRoomAndGoOnWhenThereIs(
            String options, boolean fua, SeededRandom random) throws IOException {
        try (BlockDevice device = openLoop(options);
                Submitter submitter = Submitter.start(device, 4)) {
            BlockIdentity identity = device.identity();
            byte[] bytes = random.bytes(2 << 20);
            assertThat(submitter.write(0, bytes, fua)).isEqualTo(Status.FULL);
            assertThat(submitter.flush()).as("nothing is lost").isEqualTo(Status.SUCCESS);

            assertThat(exit("mount", "-o", "remount,size=32m", disk.toString())).isZero();
            assertThat(submitter.write(0, bytes, fua)).isEqualTo(Status.SUCCESS);
            assertThat(submitter.bytes(0, bytes.length)).isEqualTo(bytes);
            assertThat(device.identity()).isEqualTo(identity);
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
