package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rings over files on a disk and on tmpfs; skipped where this machine forbids io_uring. */
final class UringTest {
    private static final long DATA = 0x8123_4567_89ab_cdefL;

    /** File systems; the results of some requests differ. */
    enum Place {
        DISK,
        TMPFS
    }

    @TempDir Path onDisk;

    @TempDir(factory = SharedMemoryFolder.class)
    Path onTmpfs;

    private final OpenFiles files = new OpenFiles();
    private final Arena arena = Arena.ofShared();
    private final List<Uring> rings = new ArrayList<>();

    @BeforeEach
    void requireUring() {
        try (Uring tried = new Uring(1, 1)) {
            assertThat(tried.pending()).isZero();
        } catch (LinuxException e) {
            abort(e.getMessage());
        }
    }

    @AfterEach
    void closeAll() {
        rings.forEach(Uring::close);
        arena.close();
        files.close();
    }

    private Uring ring(int entries) {
        return own(new Uring(entries, entries));
    }

    private Uring own(Uring ring) {
        rings.add(ring);
        return ring;
    }

    private Path path(Place place) {
        return (place == Place.DISK ? onDisk : onTmpfs).resolve("file");
    }

    private int file(Place place, String content) throws IOException {
        Files.writeString(path(place), content);
        return files.own(FileDescriptors.open(path(place).toString(), FileDescriptors.O_RDWR, 0));
    }

    private MemorySegment text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    }

    private static String text(MemorySegment segment) {
        return new String(segment.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }

    /** A descriptor of a pipe, whose reads wait until there is something to read. */
    private int pipe() {
        Path name = onDisk.resolve("pipe");
        SystemCalls.createPipe(name);
        return files.own(FileDescriptors.open(name.toString(), FileDescriptors.O_RDWR, 0));
    }

    /** Waits for the next completion, asleep. */
    private static void await(Uring ring) {
        if (ring.hasNext()) {
            return;
        }
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(ring.fd(), Epoll.IN, 0);
            assertThat(epoll.await((int) Patience.DEADLINE.toMillis()))
                    .as("completions within the deadline")
                    .isOne();
        }
    }

    /** Submits, waits for the next completion and takes it. */
    private static int resultOf(Uring ring) {
        ring.submit();
        await(ring);
        assertThat(ring.next()).isTrue();
        return ring.result();
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldWriteSyncAndRead(Place place) throws IOException {
        Uring ring = ring(4);
        int fd = file(place, "0123456789");
        MemorySegment room = arena.allocate(6);

        ring.write(fd, text("..abc.."), 2, 3, 4, 1);
        assertThat(resultOf(ring)).isEqualTo(3);
        ring.syncData(fd, 0, 0, 2);
        assertThat(resultOf(ring)).isZero();
        ring.syncData(fd, 4, 3, 2);
        assertThat(resultOf(ring)).isZero();
        ring.read(fd, room, 1, 5, 3, DATA);
        assertThat(resultOf(ring)).isEqualTo(5);

        assertThat(ring.userData()).isEqualTo(DATA);
        assertThat(text(room)).isEqualTo("\0003abc7");
        assertThat(path(place)).hasContent("0123abc789");
        assertThat(ring.pending()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldReadLessAtTheEndAndNothingBeyond(Place place) throws IOException {
        Uring ring = ring(4);
        int fd = file(place, "0123456789");
        MemorySegment room = text("....");

        ring.read(fd, room, 0, 4, 8, 1);
        assertThat(resultOf(ring)).isEqualTo(2);
        assertThat(text(room)).isEqualTo("89..");
        ring.read(fd, room, 0, 4, 10, 2);
        assertThat(resultOf(ring)).isZero();
        ring.read(fd, room, 0, 4, 1000, 3);
        assertThat(resultOf(ring)).isZero();
        assertThat(text(room)).isEqualTo("89..");
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldWriteDurably(Place place) throws IOException {
        Uring ring = ring(4);
        int fd = file(place, "");

        ring.writeDurably(fd, text("abc"), 0, 3, 2, 1);

        assertThat(resultOf(ring)).isEqualTo(3);
        assertThat(path(place)).hasContent("\0\0abc");
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldAllocateAndEmptyBlocks(Place place) throws IOException {
        Uring ring = ring(4);
        int fd = file(place, "abc");

        ring.allocate(fd, 0, 0, 1 << 16, 1);
        assertThat(resultOf(ring)).isZero();
        assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(1 << 16);
        assertThat(FileDescriptors.status(fd).allocatedBytes()).isEqualTo(1 << 16);
        ring.allocate(fd, FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE, 1, (1 << 16) - 1, 2);
        assertThat(resultOf(ring)).isZero();

        assertThat(FileDescriptors.status(fd).allocatedBytes()).isLessThan(1 << 16);
        MemorySegment room = arena.allocate(3);
        ring.read(fd, room, 0, 3, 0, 3);
        assertThat(resultOf(ring)).isEqualTo(3);
        assertThat(text(room)).isEqualTo("a\0\0");
    }

    @Test
    void shouldGiveErrorsAsNegativeResults() throws IOException {
        Uring ring = ring(8);
        int fd = file(Place.TMPFS, "0123456789");
        int readOnly =
                files.own(
                        FileDescriptors.open(
                                path(Place.TMPFS).toString(), FileDescriptors.O_RDONLY, 0));
        MemorySegment room = arena.allocate(4);
        Map<Long, Integer> results = new HashMap<>();

        ring.read(-1, room, 0, 4, 0, 1);
        ring.write(readOnly, room, 0, 4, 0, 2);
        // The kernel answers for an address that is not mapped; nothing crashes.
        ring.read(fd, MemorySegment.ofAddress(1).reinterpret(4), 0, 4, 0, 3);
        ring.allocate(fd, 0, 0, 0, 4);
        ring.allocate(fd, FileBlocks.ZERO_RANGE, 0, 4, 5);
        ring.syncData(pipe(), 0, 0, 6);
        while (ring.pending() > 0) {
            results.put(resultOf(ring) < 0 ? ring.userData() : -1L, ring.result());
        }

        assertThat(results)
                .isEqualTo(
                        Map.of(
                                1L,
                                -Errno.EBADF,
                                2L,
                                -Errno.EBADF,
                                3L,
                                -Errno.EFAULT,
                                4L,
                                -Errno.EINVAL,
                                5L,
                                -Errno.EOPNOTSUPP,
                                6L,
                                -Errno.EINVAL));
    }

    /** The kernel stops there, so one call does not take all. */
    @Test
    void shouldSubmitWhatFollowsARequestThatTheKernelDoesNotKnow() {
        Uring ring = ring(8);
        ring.nothing(1);
        ring.fill(255, -1, 0, 0, 0, 0, 2);
        ring.nothing(3);
        ring.fill(254, -1, 0, 0, 0, 0, 4);
        ring.nothing(5);

        assertThat(ring.submit()).isEqualTo(5);

        assertThat(ring.unsubmitted()).isZero();
        Map<Long, Integer> results = new HashMap<>();
        while (ring.next()) {
            results.put(ring.userData(), ring.result());
        }
        assertThat(results)
                .isEqualTo(Map.of(1L, 0, 2L, -Errno.EINVAL, 3L, 0, 4L, -Errno.EINVAL, 5L, 0));
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldCompleteAThousandRequestsInARingOfEight(Place place) throws IOException {
        int block = 512;
        int count = 1000;
        Uring ring = ring(8);
        int fd = file(place, "");
        MemorySegment written = arena.allocate((long) count * block);
        for (int i = 0; i < written.byteSize() / Integer.BYTES; i++) {
            written.setAtIndex(ValueLayout.JAVA_INT, i, i * 0x9e37_79b9);
        }
        MemorySegment read = arena.allocate(written.byteSize());

        all(
                ring,
                count,
                block,
                i -> ring.write(fd, written, (long) i * block, block, (long) i * block, ~i));
        all(
                ring,
                count,
                block,
                i -> ring.read(fd, read, (long) i * block, block, (long) i * block, ~i));

        assertThat(read.mismatch(written)).isEqualTo(-1);
    }

    @FunctionalInterface
    private interface Filler {
        void fill(int index);
    }

    /** Keeps the ring full until each request has completed once. */
    private static void all(Uring ring, int count, int sizeBytes, Filler filler) {
        BitSet completed = new BitSet();
        int filled = 0;
        while (completed.cardinality() < count) {
            while (filled < count && !ring.isFull()) {
                filler.fill(filled++);
            }
            assertThat(resultOf(ring)).isEqualTo(sizeBytes);
            int index = Math.toIntExact(~ring.userData());
            assertThat(completed.get(index)).as("completed before: %d", index).isFalse();
            completed.set(index);
        }
        assertThat(ring.pending()).isZero();
        assertThat(ring.next()).isFalse();
    }

    @Test
    void shouldRefuseRequestsBeyondItsEntriesAndBeyondItsPendingOnes() {
        Uring ring = own(new Uring(2, 3));
        ring.nothing(1);
        assertThat(ring.isFull()).isFalse();
        ring.nothing(2);
        assertThat(ring.isFull()).isTrue();
        assertThatThrownBy(() -> ring.nothing(3))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("unsubmitted=2, limit=2", "pending=2, limit=3");

        ring.submit();
        ring.nothing(3);
        assertThat(ring.isFull()).isTrue();
        assertThatThrownBy(() -> ring.nothing(4))
                .hasMessageContainingAll("unsubmitted=1, limit=2", "pending=3, limit=3");
        assertThat(ring.unsubmitted()).isOne();
        ring.submit();
        int taken = 0;
        while (ring.next()) {
            taken++;
            assertThat(ring.userData()).isEqualTo(taken);
            assertThat(ring.pending()).isEqualTo(3 - taken);
        }
        assertThat(taken).isEqualTo(3);
    }

    @Test
    void shouldTakeCompletionsThatTheirQueueHadNoRoomFor() {
        Uring ring = own(new Uring(8, 64, 8));
        for (int i = 0; i < 64; i++) {
            ring.nothing(i);
            if (ring.isFull()) {
                assertThat(ring.submit()).isEqualTo(8);
            }
        }

        for (int i = 0; i < 64; i++) {
            assertThat(ring.next()).as("completion %d", i).isTrue();
            assertThat(ring.userData()).isEqualTo(i);
        }
        assertThat(ring.next()).isFalse();
        assertThat(ring.pending()).isZero();
    }

    @Test
    void shouldBeReadableWhileThereAreCompletions() {
        Uring ring = ring(4);
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(ring.fd(), Epoll.IN, 7);
            assertThat(epoll.await(0)).isZero();
            ring.nothing(1);
            assertThat(epoll.await(0)).isZero();
            ring.submit();
            assertThat(epoll.await(0)).isOne();
            assertThat(epoll.data(0)).isEqualTo(7);
            assertThat(ring.next()).isTrue();
            assertThat(epoll.await(0)).isZero();
        }
    }

    @Test
    void shouldRefuseToCloseWhileRequestsArePending() {
        Uring ring = ring(4);
        int pipe = pipe();
        MemorySegment room = arena.allocate(4);
        ring.read(pipe, room, 0, 4, 0, 1);
        assertThatThrownBy(ring::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("ring has requests: ringFd=" + ring.fd() + ", pending=1, expected=0");
        assertThat(ring.submit()).isOne();
        assertThat(ring.next()).isFalse();
        assertThatThrownBy(ring::close).hasMessageContaining("pending=1");

        ring.write(pipe, text("abc"), 0, 3, 0, 2);
        ring.submit();
        int sum = 0;
        while (ring.pending() > 0) {
            await(ring);
            assertThat(ring.next()).isTrue();
            sum += ring.result();
        }
        assertThat(sum).isEqualTo(6);
        assertThat(text(room)).isEqualTo("abc\0");
        ring.close();
    }

    @Test
    void shouldGiveAllBackWhenClosed() throws IOException {
        long before = mappings();
        Uring ring = new Uring(4, 4);
        int fd = ring.fd();
        OpenFiles.assertCloseOnExec(fd);
        assertThat(mappings()).isGreaterThan(before);

        ring.close();
        ring.close();

        assertThat(mappings()).isEqualTo(before);
        assertThatThrownBy(ring::fd).hasMessage("ring closed: ringFd=" + fd);
        assertThatThrownBy(ring::submit).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(ring::next).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.nothing(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(ring::operations).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.limitWorkers(0, 0)).isInstanceOf(IllegalStateException.class);
    }

    private static long mappings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("io_uring")).count();
        }
    }

    /** Why a thread that submits ends after its requests. */
    @Test
    void shouldCancelTheRequestsOfAThreadThatHasEnded() throws Exception {
        Uring ring = ring(4);
        int pipe = pipe();
        MemorySegment room = arena.allocate(4);
        CompletableFuture<Path> task = new CompletableFuture<>();
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            task.complete(Path.of("/proc").resolve(threadSelf()));
                            ring.read(pipe, room, 0, 4, 0, 1);
                            ring.submit();
                        });
        assertThat(thread.join(Patience.DEADLINE)).isTrue();
        // A thread has ended for Java a little before it has for the kernel.
        Path ended = task.get();
        Await.until("end of the thread in the kernel", () -> Files.notExists(ended));

        ring.write(pipe, text("abc"), 0, 3, 0, 2);
        Map<Long, Integer> results = new HashMap<>();
        while (ring.pending() > 0) {
            int result = resultOf(ring);
            results.put(ring.userData(), result);
        }

        assertThat(results).isEqualTo(Map.of(1L, -Errno.ECANCELED, 2L, 3));
    }

    private static Path threadSelf() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldTakeOverFromAnotherThread() throws IOException, InterruptedException {
        Uring ring = ring(4);
        int fd = file(Place.DISK, "0123456789");
        MemorySegment room = arena.allocate(4);
        Thread thread = Thread.ofPlatform().start(() -> ring.read(fd, room, 0, 4, 3, 1));
        assertThat(thread.join(Patience.DEADLINE)).isTrue();

        assertThat(resultOf(ring)).isEqualTo(4);

        assertThat(text(room)).isEqualTo("3456");
    }

    @Test
    void shouldReadPastThePageCacheWhatIsAligned() throws IOException {
        Files.write(path(Place.DISK), new byte[1 << 16]);
        int fd =
                files.own(
                        FileDescriptors.open(
                                path(Place.DISK).toString(),
                                FileDescriptors.O_RDWR | FileDescriptors.O_DIRECT,
                                0));
        Optional<FileDescriptors.DirectAlignment> alignment = FileDescriptors.directAlignment(fd);
        assumeTrue(alignment.isPresent() && alignment.get().isOffered(), "no direct I/O here");
        int unit = alignment.get().offsetBytes();
        Uring ring = ring(4);
        MemorySegment room = arena.allocate(2L * unit, Math.max(4096, unit)).fill((byte) 1);

        ring.write(fd, room, 0, unit, unit, 1);
        assertThat(resultOf(ring)).isEqualTo(unit);
        ring.read(fd, room, 0, 2 * unit, 0, 2);
        assertThat(resultOf(ring)).isEqualTo(2 * unit);
        assertThat(room.get(ValueLayout.JAVA_BYTE, unit - 1)).isZero();
        assertThat(room.get(ValueLayout.JAVA_BYTE, unit)).isOne();
        ring.read(fd, room, 0, unit, 1, 3);
        assertThat(resultOf(ring)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void shouldNameTheOperationsOfTheKernel() {
        assertThat(ring(1).operations()).containsExactlyInAnyOrder(Uring.Operation.values());
    }

    @Test
    void shouldLimitTheThreadsOfTheKernel() {
        Uring ring = ring(1);
        ring.limitWorkers(2, 3);

        assertThat(ring.limitWorkers(0, 5)).isEqualTo(new Uring.WorkerLimits(2, 3));
        assertThat(ring.limitWorkers(0, 0)).isEqualTo(new Uring.WorkerLimits(2, 5));
        assertThatThrownBy(() -> ring.limitWorkers(-1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bounded=-1");
    }

    @Test
    void shouldRefuseSizesThatNoRingHas() {
        assertThatThrownBy(() -> new Uring(0, 1))
                .hasMessage("entries of a ring: entries=0, expected=1 to 32768");
        assertThatThrownBy(() -> new Uring(32769, 32769)).hasMessageContaining("entries=32769");
        assertThatThrownBy(() -> new Uring(8, 7))
                .hasMessage("pending requests of a ring: maxPending=7, expected=8 to 65536");
        assertThatThrownBy(() -> new Uring(8, 65537)).hasMessageContaining("maxPending=65537");
        try (Uring largest = new Uring(Uring.MAX_ENTRIES, Uring.MAX_PENDING)) {
            assertThat(largest.isFull()).isFalse();
        }
    }

    @Test
    void shouldRefuseMemoryAndPlacesThatCannotBeTransferred() {
        Uring ring = ring(1);
        MemorySegment room = arena.allocate(8);
        MemorySegment heap = MemorySegment.ofArray(new byte[8]);

        assertThatThrownBy(() -> ring.read(0, room, 5, 4, 0, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> ring.write(0, room, -1, 4, 0, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> ring.writeDurably(0, room, 0, -1, 0, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> ring.read(0, heap, 0, 8, 0, 1)).hasMessageContaining("native");
        assertThatThrownBy(() -> ring.read(0, room.asReadOnly(), 0, 8, 0, 1))
                .hasMessageContaining("readOnly=true");
        // -1 would be the position of the open file.
        assertThatThrownBy(() -> ring.read(0, room, 0, 8, -1, 1))
                .hasMessage("offset in a file: offsetBytes=-1, expected=0 or more");
        assertThatThrownBy(() -> ring.write(0, room, 0, 8, -1, 1)).hasMessageContaining("=-1");
        assertThat(ring.pending()).isZero();
    }
}
