package io.softdpu.block.contract;

import static io.softdpu.block.contract.BlockDeviceContract.refuses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.SystemCalls;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * File volumes by threads whose syncs, or whose writes, fail: a filter of the test's thread, which
 * the threads of its devices inherit, refuses their system calls. Those of rings have no system
 * calls; {@link FileLossTest} has them fail.
 */
class FileSyncTest extends BlockContract {
    private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");
    private static final int FALLOCATE = IS_X86 ? 285 : 47;
    private static final int PWRITE64 = IS_X86 ? 18 : 68;
    private static final int PWRITEV2 = IS_X86 ? 328 : 287;
    private static final int FSYNC = IS_X86 ? 74 : 82;
    private static final int FDATASYNC = IS_X86 ? 75 : 83;
    private static final int EIO = 5;
    private static final int ENOSPC = 28;
    private static final int EOPNOTSUPP = 95;

    @TempDir Path own;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    private BlockDevice openFile(String options) {
        BlockDevice device =
                BlockDevice.open("file:" + own.resolve("volume") + "?create=64KiB" + options, 4096);
        device.attach(device());
        return device;
    }

    /** Executes a test on a thread that is refused a system call. */
    private static void without(int number, int errno, Runnable test) throws Exception {
        Bounded.callAll(
                "a thread without a system call",
                1,
                () -> {
                    SystemCalls.forbid(number, errno);
                    test.run();
                    return true;
                });
    }

    /** Whatever learns of the loss, and with whatever errno. */
    @ParameterizedTest
    @CsvSource({
        "'', flush, 5",
        "'', fua, 28",
        "&sync, write, 5",
        "&direct, zeroes, 11",
        "&direct, flush, 116"
    })
    void shouldLetNoFlushAndNoDurableWriteSucceedAfterASyncThatHasFailed(
            String options, String first, int errno) throws Exception {
        without(
                FDATASYNC,
                errno,
                () -> {
                    try (BlockDevice device = openFile("&threads=2" + options);
                            Submitter one = Submitter.start(device, 4);
                            Submitter two = Submitter.start(device, 4)) {
                        BlockIdentity identity = device.identity();
                        assertThat(run(one, first)).isEqualTo(Status.IO_FAILED);

                        assertThat(device.identity()).isNotEqualTo(identity);
                        for (Submitter each : new Submitter[] {one, two}) {
                            assertThat(run(each, "flush")).isEqualTo(Status.IO_FAILED);
                            assertThat(run(each, "fua")).isEqualTo(Status.IO_FAILED);
                            assertThat(run(each, "zeroes")).isEqualTo(Status.IO_FAILED);
                            assertThat(each.read(0, 4096, 0)).isEqualTo(Status.SUCCESS);
                            assertThat(run(each, "write"))
                                    .isEqualTo(
                                            options.contains("sync")
                                                    ? Status.IO_FAILED
                                                    : Status.SUCCESS);
                            each.stop();
                        }
                    }
                });
    }

    private static Status run(Submitter submitter, String kind) {
        return switch (kind) {
            case "flush" -> submitter.flush();
            case "fua" -> submitter.write(4096, new byte[4096], true);
            case "zeroes" ->
                    submitter.run(submitter.context.allocateWriteZeroes(0, 4096).setFua(true));
            default -> submitter.write(8192, new byte[4096], false);
        };
    }

    /** The program knows of it, and nothing that was acknowledged is missing. */
    @ParameterizedTest
    @CsvSource({"&threads=1, 5, IO_FAILED", "&threads=1&sync&direct, 28, FULL"})
    void shouldTakeADurableWriteWhoseWriteHasFailedForNoLoss(
            String options, int errno, Status expected) throws Exception {
        openFile(options).close();
        without(
                PWRITE64,
                errno,
                () -> {
                    SystemCalls.forbid(PWRITEV2, errno);
                    try (BlockDevice device = openFile(options);
                            Submitter submitter = Submitter.start(device, 4)) {
                        BlockIdentity identity = device.identity();
                        assertThat(run(submitter, "fua")).isEqualTo(expected);

                        assertThat(device.identity()).isEqualTo(identity);
                        assertThat(run(submitter, "flush")).isEqualTo(Status.SUCCESS);
                        assertThat(run(submitter, "zeroes")).isEqualTo(Status.SUCCESS);
                        submitter.stop();
                    }
                });
    }

    /** It does not tell which half of it has failed: EIO may be that of the sync, others not. */
    @ParameterizedTest
    @CsvSource({"5, IO_FAILED", "28, SUCCESS"})
    void shouldTakeAWriteThatIsDurableByItselfForALossIfItFailsWithEio(int errno, Status expected)
            throws Exception {
        openFile("&direct").close();
        without(
                PWRITEV2,
                errno,
                () -> {
                    try (BlockDevice device = openFile("&direct&threads=1");
                            Submitter submitter = Submitter.start(device, 4)) {
                        BlockIdentity identity = device.identity();
                        assertThat(run(submitter, "fua")).isEqualTo(expected);

                        assertThat(device.identity().equals(identity)).isEqualTo(errno == ENOSPC);
                        assertThat(run(submitter, "flush")).isEqualTo(expected);
                        submitter.stop();
                    }
                });
    }

    @Test
    void shouldFailACloseWhoseSyncFailsAndTakeAnotherIdentity() throws Exception {
        without(
                FDATASYNC,
                EIO,
                () -> {
                    BlockDevice device = openFile("");
                    BlockIdentity identity = device.identity();
                    refuses(Status.IO_FAILED, device::close, "were lost before", "EIO");
                    try (BlockDevice again = openFile("&threads=1&lock_wait=0");
                            Submitter submitter = Submitter.start(again, 1)) {
                        assertThat(again.identity()).isNotEqualTo(identity);
                        assertThat(submitter.flush()).isEqualTo(Status.IO_FAILED);
                        submitter.stop();
                    }
                });
    }

    /** What a process that was killed has written may be lost since then. */
    @Test
    void shouldSyncWhenItIsOpenedAfterAnotherThatHasNotClosedIt() throws Exception {
        BlockDevice created = openFile("");
        BlockIdentity identity = created.identity();
        created.close();
        without(
                FDATASYNC,
                EIO,
                () -> {
                    BlockDevice device = openFile("");
                    assumeTrue(device.identity().equals(identity), "extended attributes");
                    refuses(Status.IO_FAILED, device::close, "were lost before");

                    SystemCalls.forbid(FSYNC, EIO);
                    refuses(Status.IO_FAILED, () -> openFile(""), "fsync", "EIO");
                });
        try (BlockDevice again = openFile("")) {
            assertThat(again.identity()).as("the report was taken").isNotEqualTo(identity);
        }
    }

    @Test
    void shouldWriteZerosWhereTheFileSystemMakesNone(SeededRandom random) throws Exception {
        byte[] bytes = random.bytes(16 << 10);
        without(
                FALLOCATE,
                EOPNOTSUPP,
                () -> {
                    try (BlockDevice device = openFile("&threads=2");
                            Submitter submitter = Submitter.start(device, 4)) {
                        assertThat(device.properties().has(BlockFeature.DISCARD)).isFalse();
                        for (boolean allocated : new boolean[] {false, true}) {
                            submitter.write(0, bytes);
                            assertThat(
                                            submitter.run(
                                                    submitter
                                                            .context
                                                            .allocateWriteZeroes(4096, 8192)
                                                            .setKeepAllocated(allocated)))
                                    .isEqualTo(Status.SUCCESS);
                            byte[] expected = bytes.clone();
                            Arrays.fill(expected, 4096, 12288, (byte) 0);
                            assertThat(submitter.bytes(0, bytes.length)).isEqualTo(expected);
                        }
                        submitter.stop();
                    }
                });
    }
}
