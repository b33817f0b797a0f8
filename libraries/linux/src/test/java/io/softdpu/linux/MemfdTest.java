package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.testkit.StartsProcesses;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class MemfdTest {
    private static final long SIZE_BYTES = 64 << 10;
    private static final int FIXED_SIZE = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private int allocated() {
        int fd = files.own(Memfd.create("test"));
        Memfd.allocate(fd, SIZE_BYTES);
        return fd;
    }

    private static long blocksOf(int fd) throws IOException {
        // 512-byte units, as in st_blocks; nothing in main code needs them.
        Process stat =
                new ProcessBuilder(
                                "stat",
                                "-L",
                                "-c",
                                "%b",
                                "/proc/" + ProcessHandle.current().pid() + "/fd/" + fd)
                        .start();
        try (var reader = stat.inputReader();
                var _ = stat.errorReader();
                var _ = stat.outputWriter()) {
            return Long.parseLong(reader.readLine());
        }
    }

    @Test
    void shouldCreateAnEmptyCloseOnExecFileInMemory() throws IOException {
        int fd = files.own(Memfd.create("some name"));

        FileStatus status = FileDescriptors.status(fd);
        assertThat(status.isRegularFile()).isTrue();
        assertThat(status.sizeBytes()).isZero();
        assertThat(FileDescriptors.fileSystemType(fd)).isEqualTo(FileDescriptors.TMPFS_MAGIC);
        assertThat(Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString())
                .startsWith("/memfd:some name");
        OpenFiles.assertCloseOnExec(fd);
    }

    @Test
    void shouldCreateAFileThatMayBeSealedAndNeverExecuted() {
        int fd = files.own(Memfd.create("test"));

        assertThat(Memfd.seals(fd) & ~Memfd.SEAL_EXEC).isZero();
        assertThat(FileDescriptors.status(fd).permissions() & 0111).isZero();
    }

    @Test
    void shouldNameTheFileThatCannotBeCreated() {
        String name = "n".repeat(250);

        assertThatThrownBy(() -> Memfd.create(name))
                .isInstanceOf(LinuxException.class)
                .hasMessage("memfd_create failed: errno=22 (EINVAL), name=" + name);
    }

    @Test
    @StartsProcesses
    void shouldAllocateAllBlocks() throws IOException {
        int fd = allocated();

        assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(SIZE_BYTES);
        assertThat(blocksOf(fd) * 512).isEqualTo(SIZE_BYTES);
    }

    @Test
    @StartsProcesses
    void shouldRefuseMoreThanTheMachineHasBeforeTakingAnyOfIt() throws IOException {
        int fd = files.own(Memfd.create("test"));

        assertThatThrownBy(() -> Memfd.allocate(fd, 1L << 50))
                .isInstanceOf(LinuxException.class)
                .hasMessageStartingWith(
                        "fallocate failed: errno=12 (ENOMEM), fd="
                                + fd
                                + ", sizeBytes="
                                + (1L << 50));
        assertThat(FileDescriptors.status(fd).sizeBytes()).isZero();
        assertThat(blocksOf(fd)).isZero();
    }

    @Test
    void shouldReportAFullFileSystem() throws IOException {
        int fd = createHugetlbOrSkip();
        long freePages = Long.parseLong(meminfo("HugePages_Free"));
        long pageBytes = Long.parseLong(meminfo("Hugepagesize")) << 10;

        assertThatThrownBy(() -> Memfd.allocate(fd, (freePages + 1) * pageBytes))
                .isInstanceOf(LinuxException.class)
                .hasMessageStartingWith("fallocate failed: errno=28 (ENOSPC), fd=" + fd);
    }

    @Test
    void shouldRefuseToAllocateNothing() {
        int fd = files.own(Memfd.create("test"));

        assertThatThrownBy(() -> Memfd.allocate(fd, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTellHugePagesApartByTheirFileSystem() {
        int fd = createHugetlbOrSkip();

        assertThat(FileDescriptors.fileSystemType(fd)).isEqualTo(0x9584_58f6L);
    }

    @Test
    void shouldFixTheSizeBySeals() {
        int fd = allocated();

        Memfd.addSeals(fd, FIXED_SIZE);

        assertThat(Memfd.seals(fd) & ~Memfd.SEAL_EXEC).isEqualTo(FIXED_SIZE);
        assertThatThrownBy(() -> FileDescriptors.truncate(fd, SIZE_BYTES - 1))
                .hasMessage(
                        "ftruncate failed: errno=1 (EPERM), fd="
                                + fd
                                + ", sizeBytes="
                                + (SIZE_BYTES - 1));
        assertThatThrownBy(() -> FileDescriptors.truncate(fd, SIZE_BYTES + 1))
                .hasMessageContaining("EPERM");
        assertThatThrownBy(() -> Memfd.addSeals(fd, Memfd.SEAL_WRITE))
                .hasMessage("fcntl(F_ADD_SEALS) failed: errno=1 (EPERM), fd=" + fd + ", seals=8");
    }

    @Test
    void shouldKeepTheOldWriterButNoNewOneUnderFutureWrite() {
        int fd = allocated();
        long old = MemoryMapping.map(fd, SIZE_BYTES, true);
        try {
            Memfd.addSeals(fd, FIXED_SIZE | Memfd.SEAL_FUTURE_WRITE);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = MemoryMapping.segment(old, SIZE_BYTES, arena);
                memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 42);

                assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
            }
            assertThatThrownBy(() -> MemoryMapping.map(fd, SIZE_BYTES, true))
                    .hasMessage(
                            "mmap failed: errno=1 (EPERM), fd="
                                    + fd
                                    + ", sizeBytes="
                                    + SIZE_BYTES
                                    + ", writable=true");
            assertThatThrownBy(() -> SystemCalls.pwrite(fd, old, 1, 0))
                    .hasMessageContaining("EPERM");
            assertThatThrownBy(() -> SystemCalls.punchHole(fd, 0, SIZE_BYTES))
                    .hasMessageContaining("EPERM");
        } finally {
            MemoryMapping.unmap(old, SIZE_BYTES);
        }
    }

    @Test
    void shouldRefuseTheWriteSealWhileAWritableMappingExists() {
        int fd = allocated();
        long address = MemoryMapping.map(fd, SIZE_BYTES, true);
        try {
            assertThatThrownBy(() -> Memfd.addSeals(fd, Memfd.SEAL_WRITE))
                    .hasMessageContaining("EBUSY");
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldTellThatOtherThingsHaveNoSeals() throws IOException {
        Path disk = Files.createTempFile("softdpu-seals", null);
        try {
            int file = files.own(FileDescriptors.open(disk.toString(), 2, 0));
            int socket = files.pair()[0];

            assertThatThrownBy(() -> Memfd.seals(socket))
                    .hasMessage("fcntl(F_GET_SEALS) failed: errno=22 (EINVAL), fd=" + socket);
            // On a tmpfs the file is memory, with the seal that forbids seals.
            if (FileDescriptors.fileSystemType(file) != FileDescriptors.TMPFS_MAGIC) {
                assertThatThrownBy(() -> Memfd.seals(file)).hasMessageContaining("EINVAL");
            } else {
                assertThat(Memfd.seals(file)).isEqualTo(Memfd.SEAL_SEAL);
            }
        } finally {
            Files.delete(disk);
        }
    }

    @Test
    void shouldPunchHolesThatReadAsZeroInAFileOfFixedSize() throws IOException {
        int fd = allocated();
        Memfd.addSeals(fd, FIXED_SIZE);
        long page = MemoryMapping.pageSize();
        long address = MemoryMapping.map(fd, SIZE_BYTES, true);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = MemoryMapping.segment(address, SIZE_BYTES, arena);
            memory.fill((byte) 0xa5);

            SystemCalls.punchHole(fd, page, 2 * page);

            assertThat(memory.asSlice(0, page).mismatch(filled(arena, page, 0xa5))).isEqualTo(-1);
            assertThat(memory.asSlice(page, 2 * page).mismatch(filled(arena, 2 * page, 0)))
                    .isEqualTo(-1);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 3 * page)).isEqualTo((byte) 0xa5);
            assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(SIZE_BYTES);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    private static MemorySegment filled(Arena arena, long sizeBytes, int value) {
        return arena.allocate(sizeBytes).fill((byte) value);
    }

    private int createHugetlbOrSkip() {
        try {
            return files.own(SystemCalls.createHugetlb("test"));
        } catch (SystemCalls.Failed e) {
            assumeTrue(false, "this kernel has no huge pages: " + e.getMessage());
            throw e;
        }
    }

    private static String meminfo(String key) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith(key + ":")) {
                return line.substring(key.length() + 1).replace("kB", "").strip();
            }
        }
        throw new AssertionError("not in /proc/meminfo: key=" + key);
    }
}
