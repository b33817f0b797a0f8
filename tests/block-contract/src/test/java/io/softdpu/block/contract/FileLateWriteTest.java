package io.softdpu.block.contract;

import static io.softdpu.block.contract.BlockDeviceContract.refuses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Status;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * File volume of a process that is stopped and killed inside writes which its disk does not end: a
 * file system in a file of another one, which is frozen. Needs root, and is skipped without.
 */
@StartsProcesses
class FileLateWriteTest extends BlockContract {
    private static final int BYTES = FileLateWriteProgram.BYTES;

    @TempDir Path own;

    private Processes processes;
    private Path outer;
    private Path inner;
    private boolean frozen;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    @BeforeEach
    void makeDisks(Processes processes) throws IOException {
        this.processes = processes;
        outer = Files.createDirectory(own.resolve("outer"));
        inner = Files.createDirectory(own.resolve("inner"));
        assumeTrue(mounts(own.resolve("outer.img"), "48m", outer), "root, who may mount");
        assumeTrue(mounts(outer.resolve("inner.img"), "16m", inner), "a second loop device");
    }

    /** Makes a file system in a file, and mounts it. It writes nothing by itself. */
    private boolean mounts(Path image, String size, Path at) {
        assertThat(run("truncate", "-s", size, image.toString())).isZero();
        assumeTrue(
                run(
                                "mkfs.ext4",
                                "-q",
                                "-O",
                                "^has_journal",
                                "-E",
                                "lazy_itable_init=0",
                                image.toString())
                        == 0,
                "mkfs.ext4");
        return run("mount", "-o", "loop", image.toString(), at.toString()) == 0;
    }

    @AfterEach
    void removeDisks() {
        if (frozen) {
            thaw();
        }
        for (Path each : new Path[] {inner, outer}) {
            if (Files.exists(each.resolve("lost+found"))) {
                assertThat(run("umount", "-l", each.toString())).isZero(); // busy after a failure
            }
        }
    }

    private int run(String... command) {
        return processes.start(new ProcessBuilder(command)).awaitExit();
    }

    private void freeze() {
        frozen = true;
        assertThat(run("fsfreeze", "-f", outer.toString())).isZero();
    }

    private void thaw() {
        assertThat(run("fsfreeze", "-u", outer.toString())).isZero();
        frozen = false;
    }

    /** Number of writes that the inner disk has begun and not ended. */
    private int writesOfDisk(String name) {
        try {
            String both = Files.readString(Path.of("/sys/block/" + name + "/inflight")).strip();
            return Integer.parseInt(both.split(" +")[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String innerDisk() {
        ChildProcess find =
                processes.start(
                        new ProcessBuilder("findmnt", "-n", "-o", "SOURCE", inner.toString()));
        assertThat(find.awaitExit()).isZero();
        return Path.of(find.outputLines().getFirst()).getFileName().toString();
    }

    private BlockDevice open(String options) {
        return add(BlockDevice.open("file:" + inner.resolve("volume") + "?direct" + options, 4096));
    }

    /** By an open that would do no I/O, which would not end. */
    private void isInUse(String named) {
        refuses(Status.IN_USE, () -> open("&readonly&lock_wait=0"), "volume", named);
    }

    @Test
    void shouldBeInUseUntilTheLastWriteOfAKilledProcessHasLeftTheKernel(SeededRandom random)
            throws IOException {
        environment().open(own, 4096, 4096).close(); // skips without io_uring: threads would hang
        open("&create=" + BYTES).close();
        ChildProcess holder =
                processes.start(
                        JavaCommand.ofClass(FileLateWriteProgram.class)
                                .withEnvironment("SOFTDPU_FABRIC", own.resolve("fabric").toString())
                                .withArguments("file:" + inner.resolve("volume") + "?direct"));
        holder.awaitLine("WRITTEN");
        assertThat(run("sync", "-f", inner.toString())).isZero(); // then all writes are its
        freeze();
        holder.standardInput().write('\n');
        holder.standardInput().flush();
        holder.awaitLine("SUBMITTED");
        String disk = innerDisk();
        Await.until("writes of the disk", () -> writesOfDisk(disk) > 0);

        holder.freeze();
        isInUse("pids=[" + holder.pid() + "]");
        holder.kill();
        holder.awaitExit();
        assertThat(writesOfDisk(disk)).isPositive();
        isInUse("");

        thaw();
        BlockDevice second = open("&lock_wait=600");
        second.attach(device());
        Submitter submitter = start(second);
        byte[] bytes = random.bytes(BYTES);
        submitter.write(0, bytes);
        assertThat(submitter.bytes(0, BYTES)).isEqualTo(bytes);
        submitter.stop();
        second.close();
        assertThat(Files.readAllBytes(inner.resolve("volume"))).isEqualTo(bytes);
        assertThat(holder.outputLines()).doesNotContain("ENDED");
    }
}
