package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class MemoryMappingTest {
    private static final long SIZE_BYTES = 1 << 20;

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    /** Unique names let a test find its own mapping in /proc/self/smaps. */
    private int memory(String name) {
        int fd = files.own(Memfd.create(name));
        FileDescriptors.truncate(fd, SIZE_BYTES);
        return fd;
    }

    private static long residentKilobytes(long address) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
        String start = Long.toHexString(address) + "-";
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(start)) {
                while (!lines.get(i).startsWith("Rss:")) {
                    i++;
                }
                return Long.parseLong(lines.get(i).replaceAll("[^0-9]", ""));
            }
        }
        throw new AssertionError("not mapped: address=0x" + Long.toHexString(address));
    }

    private static boolean isMapped(String name) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.anyMatch(line -> line.contains("/memfd:" + name + " "));
        }
    }

    @Test
    void shouldShareMemoryBetweenMappings() {
        int fd = memory("share");
        long first = MemoryMapping.map(fd, SIZE_BYTES, true);
        long second = MemoryMapping.map(fd, SIZE_BYTES, false);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment writer = MemoryMapping.segment(first, SIZE_BYTES, arena);
            MemorySegment reader = MemoryMapping.segment(second, SIZE_BYTES, arena);

            writer.set(ValueLayout.JAVA_LONG, SIZE_BYTES - 8, 0x1234_5678_9abc_def0L);

            assertThat(reader.get(ValueLayout.JAVA_LONG, SIZE_BYTES - 8))
                    .isEqualTo(0x1234_5678_9abc_def0L);
            assertThat(second).isNotEqualTo(first);
        } finally {
            MemoryMapping.unmap(first, SIZE_BYTES);
            MemoryMapping.unmap(second, SIZE_BYTES);
        }
    }

    @Test
    void shouldLeaveNothingBehindAfterUnmap() throws IOException {
        long address = MemoryMapping.map(memory("gone"), SIZE_BYTES, false);
        assertThat(isMapped("gone")).isTrue();

        MemoryMapping.unmap(address, SIZE_BYTES);

        assertThat(isMapped("gone")).isFalse();
    }

    @Test
    void shouldBringInEveryPageForWriting() throws IOException {
        long address = MemoryMapping.map(memory("write"), SIZE_BYTES, true);
        try {
            assertThat(residentKilobytes(address)).isZero();

            MemoryMapping.populate(address, SIZE_BYTES, true);

            assertThat(residentKilobytes(address)).isEqualTo(SIZE_BYTES >> 10);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldBringInEveryPageForReading() throws IOException {
        int fd = files.own(Memfd.create("read"));
        Memfd.allocate(fd, SIZE_BYTES);
        long address = MemoryMapping.map(fd, SIZE_BYTES, false);
        try {
            MemoryMapping.populate(address, SIZE_BYTES, false);

            assertThat(residentKilobytes(address)).isEqualTo(SIZE_BYTES >> 10);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldTouchEveryPageWhereTheKernelCannotBeAsked() throws IOException {
        long address = MemoryMapping.map(memory("touch"), SIZE_BYTES, true);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = MemoryMapping.segment(address, SIZE_BYTES, arena);
            memory.set(ValueLayout.JAVA_INT, 0, 0x5a5a_5a5a);

            MemoryMapping.touch(address, SIZE_BYTES, true);
            MemoryMapping.touch(address, SIZE_BYTES, false);

            assertThat(residentKilobytes(address)).isEqualTo(SIZE_BYTES >> 10);
            assertThat(memory.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x5a5a_5a5a);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldRefuseToPopulateForWritingWhatIsReadOnly() {
        long address = MemoryMapping.map(memory("readonly"), SIZE_BYTES, false);
        try {
            // The kernel answers as it answers advice that it does not know; a touch would crash.
            assertThatThrownBy(() -> MemoryMapping.populate(address, SIZE_BYTES, true))
                    .isInstanceOf(LinuxException.class)
                    .hasMessageStartingWith("madvise failed: errno=22 (EINVAL)");
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldRefuseWriteAccessThatTheDescriptorDoesNotGive() {
        int writable = memory("flags");
        int readOnly = files.own(FileDescriptors.open("/proc/self/fd/" + writable, 0, 0));

        assertThatThrownBy(() -> MemoryMapping.map(readOnly, SIZE_BYTES, true))
                .hasMessageContaining("mmap failed: errno=13 (EACCES), fd=" + readOnly);
        long address = MemoryMapping.map(readOnly, SIZE_BYTES, false);
        try {
            assertThatThrownBy(() -> SystemCalls.protect(address, SIZE_BYTES, true))
                    .hasMessageContaining("EACCES");
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }

    @Test
    void shouldNameWhatCannotBeMapped() {
        int socket = files.pair()[0];

        assertThatThrownBy(() -> MemoryMapping.map(socket, 4096, false))
                .hasMessage(
                        "mmap failed: errno=19 (ENODEV), fd="
                                + socket
                                + ", sizeBytes=4096, writable=false");
        assertThatThrownBy(() -> MemoryMapping.map(memory("empty"), 0, false))
                .hasMessageContaining("EINVAL");
    }

    @Test
    void shouldNameWhatCannotBeUnmapped() {
        assertThatThrownBy(() -> MemoryMapping.unmap(1, 4096))
                .hasMessage("munmap failed: errno=22 (EINVAL), address=0x1, sizeBytes=4096");
    }

    @Test
    void shouldEndASegmentWithItsArena() {
        long address = MemoryMapping.map(memory("arena"), SIZE_BYTES, true);
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            memory = MemoryMapping.segment(address, SIZE_BYTES, arena);
            assertThat(memory.byteSize()).isEqualTo(SIZE_BYTES);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }

        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldKnowThePageSize() {
        assertThat(Long.bitCount(MemoryMapping.pageSize())).isEqualTo(1);
        assertThat(MemoryMapping.pageSize()).isGreaterThanOrEqualTo(4096);
    }

    @Test
    void shouldMapMemoryOfItsOwnWithoutBringingPagesIn() throws IOException {
        long address = MemoryMapping.mapPrivate(SIZE_BYTES);
        try (Arena arena = Arena.ofConfined()) {
            SystemCalls.protect(address, SIZE_BYTES, false); // or it may be part of another's
            assertThat(residentKilobytes(address)).isZero();
            SystemCalls.protect(address, SIZE_BYTES, true);
            MemorySegment memory = MemoryMapping.segment(address, SIZE_BYTES, arena);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, SIZE_BYTES - 1)).isZero();
            memory.set(ValueLayout.JAVA_BYTE, SIZE_BYTES - 1, (byte) 1);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, SIZE_BYTES - 1)).isEqualTo((byte) 1);
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
        assertThatThrownBy(() -> MemoryMapping.mapPrivate(1L << 60))
                .isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
    }

    @Test
    void shouldTakeTheWishForLargePagesAndNameWhereItIsNotPossible() {
        if (!Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage"))) {
            MemoryMapping.preferLargePages(0, SIZE_BYTES); // a kernel without them looks no further
            return;
        }
        long nobodysPage = MemoryMapping.pageSize(); // below what may be mapped
        assertThatThrownBy(
                        () -> MemoryMapping.preferLargePages(nobodysPage, MemoryMapping.pageSize()))
                .hasMessageStartingWith("madvise failed: errno=12 (ENOMEM)");
        long address = MemoryMapping.mapPrivate(SIZE_BYTES);
        try {
            MemoryMapping.preferLargePages(address, SIZE_BYTES);
            assertThatThrownBy(() -> MemoryMapping.preferLargePages(address + 1, SIZE_BYTES))
                    .hasMessageStartingWith("madvise failed: errno=22 (EINVAL)");
        } finally {
            MemoryMapping.unmap(address, SIZE_BYTES);
        }
    }
}
