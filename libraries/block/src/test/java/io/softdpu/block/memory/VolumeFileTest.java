package io.softdpu.block.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.SwappedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link VolumeFile}. */
class VolumeFileTest {
    @TempDir private Path folder;

    private static MemorySegment blocks(ProviderDevice device) {
        return Objects.requireNonNull(device.memory(), "blocks in memory").segment();
    }

    @Test
    void shouldLoadAFileAndLeaveItAsItWas(SeededRandom random) throws IOException {
        byte[] bytes = new byte[24 << 10];
        random.nextBytes(bytes);
        Path file = Files.write(folder.resolve("disk"), bytes);

        try (ProviderDevice volume = VolumeFile.copy(file, 4096)) {
            assertThat(blocks(volume).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
            assertThat(VolumeFile.sizeOf(file, 4096)).isEqualTo(bytes.length);
            blocks(volume).fill((byte) 1);
        }

        assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    }

    @Test
    void shouldRefuseAMissingFile() {
        Path file = folder.resolve("missing");

        assertRefused(file, Status.NOT_FOUND, "it does not exist, expected=a regular file");
    }

    @Test
    void shouldRefuseAnEmptyFile() throws IOException {
        Path file = Files.createFile(folder.resolve("empty"));

        assertRefused(file, Status.INVALID_VALUE, "it is empty, expected=at least one block");
    }

    @Test
    void shouldRefuseADirectory() {
        assertRefused(folder, Status.INVALID_VALUE, "it is a directory, expected=a regular file");
    }

    @Test
    void shouldRefuseADevice() {
        assertRefused(
                Path.of("/dev/zero"),
                Status.INVALID_VALUE,
                "it is a character device, expected=a regular file");
    }

    @Test
    void shouldRefuseAPipe() {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            assertRefused(
                    pipe.path(), Status.INVALID_VALUE, "it is a pipe, expected=a regular file");
        }
    }

    @Test
    @Tag(Soak.TAG)
    void shouldNeverHangWhileTheFileIsSwapped(SeededRandom random) throws Exception {
        byte[] bytes = random.bytes(8192);
        Path name = folder.resolve("disk");
        Path aside = Files.createDirectory(folder.resolve("aside"));
        Duration least =
                Soak.duration(Duration.ofMillis(200), Duration.ofSeconds(2), Duration.ofMinutes(1));
        try (SwappedFile swapped = new SwappedFile(name, aside, bytes, random.fork())) {
            Set<Status> refusals = EnumSet.noneOf(Status.class);
            int loaded =
                    Bounded.call(
                            "loading a file that is swapped",
                            () -> loadAgainAndAgain(name, bytes, least, refusals));
            assertThat(swapped.swaps()).isPositive();
            assertThat(loaded).isPositive();
            assertThat(refusals)
                    .contains(Status.INVALID_VALUE)
                    .isSubsetOf(Status.INVALID_VALUE, Status.NOT_FOUND);
        }
    }

    private static int loadAgainAndAgain(
            Path name, byte[] bytes, Duration least, Set<Status> refusals) {
        long start = System.nanoTime();
        int loaded = 0;
        while (System.nanoTime() - start < least.toNanos()
                || loaded == 0
                || !refusals.contains(Status.INVALID_VALUE)) {
            try (ProviderDevice volume = VolumeFile.copy(name, 4096)) {
                assertThat(blocks(volume).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
                loaded++;
            } catch (DpuException e) {
                refusals.add(e.status());
            }
        }
        return loaded;
    }

    @Test
    void shouldRefuseASizeThatIsNoMultipleOfTheBlockSize() throws IOException {
        Path file = Files.write(folder.resolve("odd"), new byte[4097]);

        assertRefused(
                file,
                Status.INVALID_VALUE,
                "its size is no multiple of the block size, sizeBytes=4097, expected=a multiple of"
                        + " 4096");
    }

    @Test
    void shouldNameTheFileThatDoesNotFitInMemory() throws IOException {
        Path file = folder.resolve("sparse");
        try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(3L << 40);
        }

        assertThatThrownBy(() -> VolumeFile.copy(file, 4096))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NO_MEMORY))
                .hasMessageStartingWith(
                        "volume cannot be loaded: volume=copy:"
                                + file
                                + ", reason=memory not available: sizeBytes=3298534883328,")
                .hasMessageContaining("availableBytes=");
        assertThat(VolumeFile.sizeOf(file, 4096)).isEqualTo(3L << 40);
    }

    private static void assertRefused(Path file, Status status, String reason) {
        assertRefused(() -> VolumeFile.copy(file, 4096).close(), file, status, reason);
        assertRefused(() -> VolumeFile.sizeOf(file, 4096), file, status, reason);
    }

    private static void assertRefused(Runnable action, Path file, Status status, String reason) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining("file=" + file)
                .hasMessageContaining(reason);
    }
}
