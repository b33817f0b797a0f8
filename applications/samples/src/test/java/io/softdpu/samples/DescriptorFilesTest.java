package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the files with descriptors. */
class DescriptorFilesTest {

    @TempDir Path folder;

    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("descriptor");
    }

    private static DescriptorFiles files() {
        return new DescriptorFiles(Deadline.in(Patience.LIMIT));
    }

    private static void assertFails(Status status, ThrowingCallable call, String... parts) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContainingAll(parts);
    }

    /** Whatever the bytes are: only the peer's calls understand them. */
    @Test
    @Clause("rdma-225")
    void shouldWriteAndReadDescriptorsAsTheyAre(SeededRandom random) {
        try (DescriptorFiles files = files()) {
            for (int size : List.of(1, 2, 300, 100_000)) {
                byte[] descriptor = random.bytes(size);
                files.write(file, descriptor);
                assertThat(file).hasBinaryContent(descriptor);
                assertThat(files.await(file)).isEqualTo(descriptor);
            }
            assertThat(folder).as("no part is left").isDirectoryNotContaining("glob:**.part");
        }
    }

    /** It gets its name when it is complete: a change of its content would be reported, too. */
    @Test
    void shouldNameAFileWhenItIsComplete(SeededRandom random)
            throws IOException, InterruptedException {
        Path last = folder.resolve("last");
        try (WatchService changes = folder.getFileSystem().newWatchService();
                DescriptorFiles files = files()) {
            folder.register(
                    changes,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_MODIFY);
            files.write(file, random.bytes(3_000_000));
            Files.createFile(last);

            List<WatchEvent.Kind<?>> seen = new ArrayList<>();
            for (boolean all = false; !all; ) {
                WatchKey key = changes.poll(Patience.SECONDS, TimeUnit.SECONDS);
                assertThat(key).as("a change").isNotNull();
                for (WatchEvent<?> event : key.pollEvents()) {
                    if (file.getFileName().equals(event.context())) {
                        seen.add(event.kind());
                    }
                    all |= last.getFileName().equals(event.context());
                }
                key.reset();
            }
            assertThat(seen).isEqualTo(List.of(StandardWatchEventKinds.ENTRY_CREATE));
        }
    }

    /** As by cp, which creates the file first. */
    @Test
    @Clause("rdma-212")
    void shouldWaitUntilAFileWasCopied(SeededRandom random) throws Exception {
        byte[] descriptor = random.bytes(300);
        try (DescriptorFiles files = files()) {
            CompletableFuture<byte[]> awaited =
                    CompletableFuture.supplyAsync(() -> files.await(file));
            Files.createFile(file);
            assertThat(awaited).isNotDone();
            Files.write(file, descriptor, StandardOpenOption.WRITE);
            assertThat(awaited.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(descriptor);
        }
    }

    @Test
    void shouldNameTheFileThatIsNotThereInTime() throws IOException {
        try (DescriptorFiles files = new DescriptorFiles(Deadline.in(Duration.ofMillis(50)))) {
            assertFails(
                    Status.TIME_OUT,
                    () -> files.await(file),
                    "descriptor of the peer is not there: file=" + file,
                    "expected=a copy of the file that the peer has written");
            Files.createFile(file);
            assertFails(Status.TIME_OUT, () -> files.await(file), "file=" + file);
        }
    }

    @Test
    void shouldRemoveWhatItHasAnnouncedAtOnceAndAtTheEnd() throws IOException {
        Files.writeString(file, "SRDC of an earlier run");
        Path other = Files.writeString(folder.resolve("other"), "of the peer");
        try (DescriptorFiles files = files()) {
            files.announce(file);
            assertThat(file).as("would be taken for this run's").doesNotExist();
            files.write(file, new byte[] {1});
            assertThat(file).exists();
        }
        assertThat(file).doesNotExist();
        assertThat(other).exists();
    }

    @Test
    void shouldRefuseNamesOfOtherThingsThanFiles() throws IOException {
        Path directory = Files.createDirectory(folder.resolve("directory"));
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"));
                DescriptorFiles files = files()) {
            assertFails(
                    Status.IO_FAILED,
                    () -> files.announce(pipe.path()),
                    "descriptor cannot be written: file=" + pipe.path(),
                    "a pipe");
            assertFails(
                    Status.IO_FAILED,
                    () -> files.await(pipe.path()),
                    "descriptor cannot be read: file=" + pipe.path(),
                    "a pipe");
            assertFails(Status.IO_FAILED, () -> files.announce(directory), "a directory");
            assertThat(pipe.path()).exists();
            assertThat(directory).exists();
        }
        Path missing = folder.resolve("missing/descriptor");
        try (DescriptorFiles files = files()) {
            assertFails(
                    Status.IO_FAILED,
                    () -> files.await(missing),
                    "cannot be read",
                    "it does not exist");
            for (ThrowingCallable call :
                    List.<ThrowingCallable>of(
                            () -> files.announce(missing),
                            () -> files.write(missing, new byte[1]))) {
                assertFails(
                        Status.IO_FAILED,
                        call,
                        "descriptor cannot be written: file=" + missing,
                        "reason=its folder does not exist, expected=");
            }
        }
    }

    @Test
    void shouldKeepAnyOtherFileAlsoBehindALink() throws IOException {
        Path thesis = Files.writeString(folder.resolve("thesis.txt"), "of years");
        Path descriptor = Files.writeString(folder.resolve("descriptor-of-peer"), "SRDC");
        try (DescriptorFiles files = files()) {
            for (Path target : List.of(thesis, descriptor, folder.resolve("none"))) {
                Path link = Files.createSymbolicLink(folder.resolve("link"), target);
                assertFails(
                        Status.IO_FAILED,
                        () -> files.announce(link),
                        "descriptor cannot be written: file=" + link,
                        "reason=it is a symbolic link, expected=a regular file");
                assertThat(link).isSymbolicLink();
                Files.delete(link);
            }
            for (ThrowingCallable call :
                    List.<ThrowingCallable>of(
                            () -> files.announce(thesis),
                            () -> files.write(thesis, new byte[] {1}))) {
                assertFails(
                        Status.IO_FAILED,
                        call,
                        "descriptor cannot be written: file=" + thesis,
                        "reason=it has another content (bytes=8, beginning with 6f662079)",
                        "expected=no file, an empty one, or a descriptor of an earlier run");
            }
            files.announce(file);
            Files.writeString(file, "put there by the user meanwhile");
            assertFails(
                    Status.IO_FAILED, () -> files.write(file, new byte[] {1}), "another content");
        }
        assertThat(thesis).hasContent("of years");
        assertThat(descriptor).hasContent("SRDC");
        assertThat(file).hasContent("put there by the user meanwhile");
    }

    @Test
    void shouldLeaveAFileThatTookTheNameOfADescriptor() throws IOException {
        try (DescriptorFiles files = files()) {
            files.announce(file);
            files.write(file, new byte[] {1});
            Files.delete(file);
            Files.writeString(file, "SRDC of another run");
        }
        assertThat(file).hasContent("SRDC of another run");
    }

    /** Of each kind: connection, memory, sync event. */
    @Test
    void shouldReplaceDescriptorsThatAKilledRunHasLeft() throws IOException {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder.resolve("f")).open();
                Device device = machine.findDevice("p0").open();
                ProgressEngine engine = ProgressEngine.create();
                SharedMemory memory = SharedMemory.allocate(4096);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ))
                                .addDevice(device)
                                .start();
                Rdma rdma = Rdma.create(device);
                SyncEvent event =
                        SyncEvent.create(device)
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.CPU)) {
            rdma.setConnectionCallback((connection, previous, next) -> {});
            engine.connect(rdma);
            rdma.start();
            event.start();
            for (byte[] descriptor :
                    List.of(
                            rdma.exportConnection().blob(),
                            mmap.exportRdma(device),
                            event.exportRdma(device))) {
                Files.write(file, descriptor);
                try (DescriptorFiles files = files()) {
                    files.announce(file);
                    assertThat(file).doesNotExist();
                }
            }
            event.stop();
        }
    }
}
