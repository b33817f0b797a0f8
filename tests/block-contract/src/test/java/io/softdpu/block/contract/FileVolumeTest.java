package io.softdpu.block.contract;

import static io.softdpu.block.contract.BlockDeviceContract.refuses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Opening of file volumes: options, creation, identity, locks, and what the machine forbids. */
class FileVolumeTest extends BlockContract {
    private static final String ATTRIBUTE = "softdpu.identity";
    private static final int IO_URING_SETUP = 425;
    private static final int EPERM = 1;

    @TempDir Path own;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    private Path file() {
        return own.resolve("volume");
    }

    private BlockDevice openFile(String options) {
        return add(BlockDevice.open("file:" + file() + options, 512));
    }

    private BlockIdentity identityOnce() {
        try (BlockDevice device = BlockDevice.open("file:" + file(), 512)) {
            return device.identity();
        }
    }

    // ---- options ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?fast",
                "?",
                "?direct=1",
                "?threads",
                "?threads=0",
                "?threads=65",
                "?lock_wait=soon",
                "?create=12x",
                "?create=100",
                "?create=0",
                "?sync&sync",
                "?readonly&sync",
                "?create=1MiB&readonly"
            })
    void shouldNameAWrongOptionAndTheKnownForms(String options) {
        refuses(
                Status.INVALID_VALUE,
                () -> openFile(options),
                options,
                "file:PATH?direct&sync&readonly&create=SIZE&threads=N&lock_wait=SECONDS",
                "memory:SIZE");
        assertThat(file()).doesNotExist();
    }

    @Test
    void shouldNameAFileThatIsMissingOrOfAnotherType() {
        refuses(Status.NOT_FOUND, () -> openFile(""), file().toString(), "create=SIZE");
        refuses(
                Status.INVALID_VALUE,
                () -> BlockDevice.open("file:" + own),
                own.toString(),
                "directory",
                "a regular file or a block device");
        refuses(Status.INVALID_VALUE, () -> BlockDevice.open("file:"), "path is empty");
    }

    @Test
    void shouldRefuseASizeThatIsNoMultipleOfTheBlock() throws IOException {
        Files.write(file(), new byte[700]);

        refuses(Status.INVALID_VALUE, () -> openFile(""), "sizeBytes=700", "512");
    }

    // ---- creation ----

    @Test
    void shouldCreateAMissingFileOfZeros() throws IOException {
        BlockDevice device = openFile("?create=64KiB&threads=2");

        assertThat(device.method()).isEqualTo("threads");
        assertThat(device.properties().sizeBytes()).isEqualTo(64 << 10);
        device.close();
        assertThat(Files.readAllBytes(file())).hasSize(64 << 10).containsOnly(0);
        try (Stream<Path> all = Files.list(own)) {
            assertThat(all).containsExactly(file());
        }
    }

    @Test
    void shouldNotChangeAFileThatExists(SeededRandom random) throws IOException {
        byte[] bytes = random.bytes(2048);
        Files.write(file(), bytes);

        BlockDevice device = openFile("?create=64KiB");
        assertThat(device.properties().sizeBytes()).isEqualTo(bytes.length);
        device.close();
        assertThat(Files.readAllBytes(file())).isEqualTo(bytes);
    }

    @Test
    void shouldKeepWhatWasWritten(SeededRandom random) throws IOException {
        BlockDevice device = openFile("?create=64KiB&sync");
        device.attach(device());
        Submitter submitter = start(device);
        byte[] bytes = random.bytes(1024);
        submitter.write(512, bytes);
        submitter.stop();
        device.close();

        byte[] all = Files.readAllBytes(file());
        assertThat(Arrays.copyOfRange(all, 512, 1536)).isEqualTo(bytes);
    }

    @Test
    void shouldFailAFlushBehindADurableWriteThatFailed() {
        openFile("?create=64KiB").close();
        BlockDevice device =
                add(
                        BlockDevice.open(
                                "fault:error=write/IO_FAILED/1:file:" + file() + "?sync", 512));
        device.attach(device());
        Submitter submitter = start(device);

        assertThat(submitter.write(0, new byte[512], false)).isEqualTo(Status.IO_FAILED);
        assertThat(submitter.flush()).isEqualTo(Status.IO_FAILED);
    }

    // ---- identity ----

    @Test
    void shouldKeepItsIdentity() {
        BlockDevice created = openFile("?create=64KiB");
        BlockIdentity identity = created.identity();
        created.close();

        assumeTrue(attribute() != null, "the file system has extended attributes");
        assertThat(identityOnce()).isEqualTo(identity);
        try (BlockDevice readOnly = BlockDevice.open("file:" + file() + "?readonly", 512)) {
            assertThat(readOnly.identity()).isEqualTo(identity);
        }
    }

    @Test
    void shouldKeepItsIdentityAfterAnotherBootOnlyIfItWasClosed() throws IOException {
        BlockIdentity identity;
        byte @Nullable [] open;
        try (BlockDevice created = BlockDevice.open("file:" + file() + "?create=64KiB", 512)) {
            identity = created.identity();
            open = attribute();
        }
        byte @Nullable [] closed = attribute();
        assumeTrue(open != null && closed != null, "the file system has extended attributes");

        for (byte[] record : List.of(open, closed)) {
            record[16] ^= 1; // of the boot id
        }
        setAttribute(closed);
        assertThat(identityOnce()).isEqualTo(identity);
        setAttribute(open);
        assertThat(identityOnce()).isNotEqualTo(identity);
    }

    private UserDefinedFileAttributeView view() {
        return Files.getFileAttributeView(file(), UserDefinedFileAttributeView.class);
    }

    private byte @Nullable [] attribute() {
        try {
            ByteBuffer bytes = ByteBuffer.allocate(64);
            view().read(ATTRIBUTE, bytes);
            bytes.flip();
            byte[] record = new byte[bytes.remaining()];
            bytes.get(record);
            return record;
        } catch (IOException e) {
            return null;
        }
    }

    private void setAttribute(byte[] record) throws IOException {
        view().write(ATTRIBUTE, ByteBuffer.wrap(record));
    }

    // ---- direct ----

    @Test
    void shouldRefuseDirectWhereTheFileSystemIgnoresIt() throws IOException {
        Path shared = Path.of("/dev/shm");
        assumeTrue(Files.isDirectory(shared) && Files.getFileStore(shared).type().equals("tmpfs"));
        Path folder = Files.createTempDirectory(shared, "softdpu-test");
        Path file = folder.resolve("volume");
        try {
            refusesDirect("file:" + file + "?create=4KiB&direct", file);
            assertThat(folder).isEmptyDirectory();
            Files.write(file, new byte[4096]);
            refusesDirect("file:" + file + "?direct", file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    private static void refusesDirect(String uri, Path file) {
        refuses(Status.NOT_SUPPORTED, () -> BlockDevice.open(uri), file.toString(), "direct");
    }

    // ---- locks ----

    @Test
    void shouldExcludeASecondOpen() {
        BlockDevice first = openFile("?create=64KiB");

        refuses(
                Status.IN_USE,
                () -> openFile("?lock_wait=0"),
                file().toString(),
                "pids=[" + ProcessHandle.current().pid() + "]");
        refuses(Status.IN_USE, () -> openFile("?lock_wait=0&readonly"), file().toString());
        first.close();
        openFile("?lock_wait=0");
    }

    @Test
    void shouldShareAVolumeThatIsReadOnly(SeededRandom random) throws IOException {
        byte[] bytes = random.bytes(2048);
        Files.write(file(), bytes);
        for (int i = 0; i < 2; i++) {
            BlockDevice device = openFile("?lock_wait=0&readonly");
            device.attach(device());
            assertThat(device.properties().has(BlockFeature.READ_ONLY)).isTrue();
            Submitter submitter = start(device);
            assertThat(submitter.bytes(0, bytes.length)).isEqualTo(bytes);
            BlockContext context = device.createContext();
            refuses(Status.NOT_PERMITTED, () -> context.setWriteTasks(1, _ -> {}, _ -> {}));
        }
        refuses(Status.IN_USE, () -> openFile("?lock_wait=0"), file().toString());
    }

    @Test
    void shouldWaitForTheEndOfTheFirst() throws Exception {
        BlockDevice first = openFile("?create=64KiB");
        FutureTask<BlockDevice> second = new FutureTask<>(() -> openFile("?lock_wait=600"));
        Thread opening = Thread.ofPlatform().start(second);
        Await.until("a wait for the lock", () -> opening.getState() == Thread.State.TIMED_WAITING);
        first.close();

        assertThat(opening.join(Patience.DEADLINE)).isTrue();
        second.get().close();
    }

    // ---- failures ----

    @ParameterizedTest
    @ValueSource(strings = {"", "&threads=1", "&direct"})
    void shouldFailAReadBehindTheEndOfAFileThatWasCut(String options) throws IOException {
        BlockDevice device = openFile("?create=64KiB" + options);
        device.attach(device());
        Submitter submitter = start(device);
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
            channel.truncate(1024);
        }

        assertThat(submitter.read(0, 2048, 0)).isEqualTo(Status.IO_FAILED);
        assertThat(submitter.read(4096, 512, 0)).isEqualTo(Status.IO_FAILED);
        assertThat(submitter.read(512, 512, 0)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldUseThreadsWhereIoUringIsForbidden(SeededRandom random) throws Exception {
        byte[] bytes = random.bytes(1024);
        Bounded.callAll(
                "a thread without io_uring",
                1,
                () -> {
                    SystemCalls.forbid(IO_URING_SETUP, EPERM);
                    try (LogCapture log = new LogCapture("io.softdpu.block.file.FileDevice");
                            BlockDevice device =
                                    BlockDevice.open("file:" + file() + "?create=64KiB", 512)) {
                        assertThat(log.with("threads in place of io_uring")).hasSize(1);
                        assertThat(device.toString())
                                .contains("method=threads", "io_uring is refused", "EPERM");
                        device.attach(device());
                        try (Submitter submitter = Submitter.start(device, 4)) {
                            submitter.write(0, bytes);
                            assertThat(submitter.flush()).isEqualTo(Status.SUCCESS);
                            assertThat(submitter.bytes(0, bytes.length)).isEqualTo(bytes);
                            submitter.stop();
                        }
                    }
                    return true;
                });
    }
}
