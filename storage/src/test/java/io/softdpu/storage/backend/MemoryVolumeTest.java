package io.softdpu.storage.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.storage.Content;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryVolumeTest {
    @TempDir private Path folder;

    @Test
    void shouldHoldThePatternWhereNothingIsLoaded() {
        try (MemoryVolume volume = MemoryVolume.ofPattern(64 << 10, 4096)) {
            byte[] expected = new byte[64 << 10];
            Content.pattern(Content.VOLUME_PATTERN_SEED).fill(MemorySegment.ofArray(expected), 0);

            assertThat(volume.sizeBytes()).isEqualTo(64 << 10);
            assertThat(volume.blockSizeBytes()).isEqualTo(4096);
            assertThat(volume.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
    }

    @Test
    void shouldLoadAFileAndLeaveItAsItWas(SeededRandom random) throws IOException {
        byte[] bytes = new byte[24 << 10];
        random.nextBytes(bytes);
        Path file = Files.write(folder.resolve("disk"), bytes);

        try (MemoryVolume volume = MemoryVolume.fromFile(file, 4096)) {
            assertThat(volume.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
            assertThat(volume.description()).contains(file.toString());
            assertThat(MemoryVolume.sizeOf(file, 4096)).isEqualTo(bytes.length);
            volume.segment().fill((byte) 1);
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
    void shouldRefuseADeviceWithoutOpeningIt() {
        assertRefused(
                Path.of("/dev/zero"), Status.INVALID_VALUE, "it is no regular file, expected=");
    }

    @Test
    void shouldRefuseASizeThatIsNoMultipleOfTheBlockSize() throws IOException {
        Path file = Files.write(folder.resolve("odd"), new byte[4097]);

        assertRefused(
                file,
                Status.INVALID_VALUE,
                "its size is no multiple of the block size, size=4097, expected=a multiple of"
                        + " 4096");
    }

    @Test
    void shouldRefuseASizeOrBlockSizeThatIsNone() {
        assertInvalid(() -> MemoryVolume.ofPattern(0, 4096), "size=0");
        assertInvalid(() -> MemoryVolume.ofPattern(-4096, 4096), "size=-4096");
        assertInvalid(() -> MemoryVolume.ofPattern(4095, 4096), "size=4095");
        for (int blockSize : new int[] {0, -512, 256, 513, 3000, 2 << 20}) {
            assertInvalid(
                    () -> MemoryVolume.ofPattern(8 << 20, blockSize), "block_size=" + blockSize);
        }
    }

    @Test
    void shouldBeAttachedOnceAndGiveTheDeviceBack() {
        try (Machine machine =
                        Machine.builder(Side.TARGET).fabricFolder(folder.resolve("f")).open();
                Device device = machine.findDevice("t0").open()) {
            MemoryVolume volume = MemoryVolume.ofPattern(8192, 4096);
            assertThatThrownBy(volume::memory).hasMessageContaining("not attached");

            volume.attach(device);

            assertThat(volume.memory().sizeBytes()).isEqualTo(8192);
            assertThatThrownBy(() -> volume.attach(device))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
            volume.close();
            volume.close();
        }
    }

    private static void assertRefused(Path file, Status status, String reason) {
        assertRefused(() -> MemoryVolume.fromFile(file, 4096), file, status, reason);
        assertRefused(() -> MemoryVolume.sizeOf(file, 4096), file, status, reason);
    }

    private static void assertRefused(Runnable action, Path file, Status status, String reason) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining("file=" + file)
                .hasMessageContaining(reason);
    }

    private static void assertInvalid(Runnable action, String reason) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(reason);
    }
}
