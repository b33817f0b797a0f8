package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalMemoryTest {
    private static final long LARGE_BYTES = 8L << 20;

    @ParameterizedTest
    @ValueSource(longs = {1, 4096, 4097, (2L << 20) - 1, 2L << 20, (2L << 20) + 1, LARGE_BYTES})
    void shouldBeZerosOfTheSizeThatWasAskedForAndWritableToItsLastByte(long sizeBytes) {
        try (LocalMemory memory = LocalMemory.allocate(sizeBytes)) {
            MemorySegment segment = memory.segment();
            assertThat(memory.sizeBytes()).isEqualTo(sizeBytes);
            assertThat(segment.byteSize()).isEqualTo(sizeBytes);
            assertThat(segment.mismatch(MemorySegment.ofArray(new byte[(int) sizeBytes])))
                    .isEqualTo(-1);
            segment.fill((byte) 7);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, sizeBytes - 1)).isEqualTo((byte) 7);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {(2L << 20) - 1, LARGE_BYTES})
    void shouldHaveAllItsPagesAndAskForLargeOnes(long sizeBytes) throws IOException {
        Path here = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
        assumeTrue(Files.exists(here), "this kernel has no large pages");
        try (LocalMemory memory = LocalMemory.allocate(sizeBytes)) {
            long address = memory.segment().address();
            List<String> mapping = mappingAt(address);
            assertThat(address % (2L << 20)).as("alignment").isZero();
            assertThat(value(mapping, "Rss:")).isEqualTo((sizeBytes + 1023) >> 10);
            assertThat(mapping).anyMatch(line -> line.matches("VmFlags:.* hg( .*)?"));
        }
    }

    @Test
    void shouldBeGoneWhenItIsClosedWhichTwiceIsFine() throws IOException {
        assumeTrue(
                Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage")),
                "this kernel has no large pages to know it by");
        LocalMemory memory = LocalMemory.allocate(LARGE_BYTES);
        MemorySegment segment = memory.segment();
        long address = segment.address();
        assertThat(pagesAt(address)).isTrue();
        memory.close();
        memory.close();
        assertThat(pagesAt(address)).isFalse();
        assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(memory::segment)
                .hasMessage("already closed: localMemoryBytes=" + LARGE_BYTES)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
        assertThat(memory.sizeBytes()).isEqualTo(LARGE_BYTES);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldRefuseASizeThatIsNone(long sizeBytes) {
        assertThatThrownBy(() -> LocalMemory.allocate(sizeBytes))
                .hasMessageContaining("sizeBytes=" + sizeBytes)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
    }

    @ParameterizedTest
    @ValueSource(longs = {3L << 40, 1L << 60, Long.MAX_VALUE - (2L << 20), Long.MAX_VALUE})
    void shouldSayThatThereIsNotSoMuch(long sizeBytes) {
        assertThatThrownBy(() -> LocalMemory.allocate(sizeBytes))
                .hasMessageStartingWith("memory not available: sizeBytes=" + sizeBytes)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NO_MEMORY));
    }

    /** Both kinds say what there is, and which limit it comes from. */
    @Test
    void shouldNameTheLimitThatHasNoRoomForIt() {
        for (LongFunction<?> allocate :
                List.<LongFunction<?>>of(LocalMemory::allocate, SharedMemory::allocate)) {
            assertThatThrownBy(() -> allocate.apply(3L << 40))
                    .hasMessageMatching(
                            "(shared )?memory not available: .*sizeBytes=3298534883328,"
                                    + " neededBytes=3298568437760, availableBytes=\\d+,"
                                    + " limitedBy=(machine|cgroup, folder=.*, limitBytes=\\d+),"
                                    + " expected=a smaller size or a higher limit")
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NO_MEMORY));
        }
    }

    @Test
    @Clause("core-076")
    void shouldStayOpenWhileAnMmapIsOverIt(@TempDir Path folder) throws Exception {
        LocalMemory memory = LocalMemory.allocate(4096);
        try (Machines machines = new Machines(folder);
                Mmap mmap = Mmap.create()) {
            Device device = machines.device(Side.HOST, "pf0");
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
            assertThat(mmap.sizeBytes()).isEqualTo(4096);
            assertThatThrownBy(memory::close)
                    .hasMessageContaining("localMemoryBytes=4096")
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.IN_USE));
            memory.segment().fill((byte) 0x5c);
        }
        assertThat(memory.segment().toArray(ValueLayout.JAVA_BYTE))
                .as("the program's, also after the mmap")
                .containsOnly(0x5c);
        memory.close();
        try (Mmap mmap = Mmap.create()) {
            assertThatThrownBy(() -> mmap.setMemory(memory))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
        }
    }

    /** A thread that reads from a pipe into the memory holds it until something has come. */
    @Test
    void shouldWaitForACallThatWorksOnItInAnotherThread() throws Exception {
        LocalMemory memory = LocalMemory.allocate(4096);
        MemorySegment segment = memory.segment();
        Pipe pipe = Pipe.open();
        CompletableFuture<Integer> read = new CompletableFuture<>();
        Thread reader =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            try (Pipe.SourceChannel source = pipe.source()) {
                                read.complete(source.read(segment.asByteBuffer()));
                            } catch (IOException | RuntimeException e) {
                                read.completeExceptionally(e);
                            }
                        });
        Await.until("it reads", () -> isInRead(reader));
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread closer =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            Thread.currentThread().interrupt();
                            memory.close();
                            interrupted.complete(Thread.interrupted());
                        });
        Await.until("it is waited for", () -> closer.getState() == Thread.State.TIMED_WAITING);
        assertThat(segment.scope().isAlive()).isTrue();
        try (Pipe.SinkChannel sink = pipe.sink()) {
            sink.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        }
        assertThat(read.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(3);
        assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(segment.scope().isAlive()).isFalse();
    }

    private static boolean isInRead(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("read0"));
    }

    /** Whether pages of this kind, on which nothing else of the process is, are mapped there. */
    private static boolean pagesAt(long address) throws IOException {
        return mappingAt(address).stream().anyMatch(line -> line.matches("VmFlags:.* hg( .*)?"));
    }

    /** The lines of /proc/self/smaps about the mapping that holds this address; empty if none. */
    private static List<String> mappingAt(long address) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
        int begin = -1;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                if (begin >= 0) {
                    return lines.subList(begin, i);
                }
                String[] range = lines.get(i).split("[- ]", 3);
                if (Long.parseUnsignedLong(range[0], 16) <= address
                        && address < Long.parseUnsignedLong(range[1], 16)) {
                    begin = i;
                }
            }
        }
        return begin < 0 ? List.of() : lines.subList(begin, lines.size());
    }

    private static long value(List<String> mapping, String name) {
        return mapping.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }
}
