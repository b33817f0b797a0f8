package io.softdpu.block.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link SbcHeader}, and of volumes from files with and without one. */
class BinaryContentTest {
    private static final int BLOCK = 512;
    private static final int BLOCKS = 3;

    @TempDir private Path folder;

    private static byte[] sbc(int blockSize, int blockCount, byte[] content) {
        return ByteBuffer.allocate(SbcHeader.SIZE_BYTES + content.length)
                .putLong(0xDEAD_F00D_1337_FADEL)
                .putInt(blockSize)
                .putInt(blockCount)
                .put(content)
                .array();
    }

    private static MemorySegment blocks(ProviderDevice device) {
        return Objects.requireNonNull(device.memory(), "blocks in memory").segment();
    }

    private Path write(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("content"), bytes);
    }

    @Test
    void shouldTakeTheSizesOfAnSbcFileAndNotThoseOfTheCaller(SeededRandom random)
            throws IOException {
        byte[] content = random.bytes(BLOCKS * BLOCK);
        Path file = write(sbc(BLOCK, BLOCKS, content));

        try (ProviderDevice volume = VolumeFile.binaryContent(file, 4096, 128)) {
            assertThat(volume.properties().blockSizeBytes()).isEqualTo(BLOCK);
            assertThat(blocks(volume).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
            blocks(volume).fill((byte) 1);
        }

        assertThat(Files.readAllBytes(file)).isEqualTo(sbc(BLOCK, BLOCKS, content));
    }

    @Test
    void shouldTakeARawFileOfExactlyTheSizeOfTheCaller(SeededRandom random) throws IOException {
        byte[] content = random.bytes(BLOCKS * BLOCK);
        Path file = write(content);

        try (ProviderDevice volume = VolumeFile.binaryContent(file, BLOCK, BLOCKS)) {
            assertThat(volume.properties().blockSizeBytes()).isEqualTo(BLOCK);
            assertThat(blocks(volume).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        }
        for (int blocks : new int[] {BLOCKS - 1, BLOCKS + 1}) {
            assertThatThrownBy(() -> VolumeFile.binaryContent(file, BLOCK, blocks))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageContaining("file=" + file)
                    .hasMessageContaining("it is no .sbc file and has another size, sizeBytes=1536")
                    .hasMessageContaining(
                            "expected=" + blocks * BLOCK + " (" + blocks + " blocks of 512)");
        }
    }

    @Test
    void shouldTakeAVolumeThatBeginsWithAPartOfTheMagicForRaw() throws IOException {
        byte[] content = Arrays.copyOf(sbc(BLOCK, 1, new byte[0]), BLOCK);
        content[7]++;

        try (ProviderDevice volume = VolumeFile.binaryContent(write(content), BLOCK, 1)) {
            assertThat(blocks(volume).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, -BLOCK, BLOCK, -BLOCKS * BLOCK})
    void shouldRefuseAnSbcFileThatIsCutOrTooLong(int difference) throws IOException {
        byte[] whole = sbc(BLOCK, BLOCKS, new byte[BLOCKS * BLOCK]);

        assertRefused(
                Arrays.copyOf(whole, whole.length + difference),
                "field=content, offsetBytes=16, sizeBytes="
                        + (BLOCKS * BLOCK + difference)
                        + ", expected=1536 (3 blocks of 512)");
    }

    @ParameterizedTest
    @CsvSource({
        "8, block_size, 8, 12",
        "11, block_size, 8, 12",
        "12, block_count, 12, 16",
        "15, block_count, 12, 16"
    })
    void shouldRefuseAHeaderThatIsCut(int length, String field, int offset, int least)
            throws IOException {
        assertRefused(
                Arrays.copyOf(sbc(BLOCK, 1, new byte[BLOCK]), length),
                "field="
                        + field
                        + ", offsetBytes="
                        + offset
                        + ", fileSizeBytes="
                        + length
                        + ", expected=at least "
                        + least);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 256, 513, 3000, 2 << 20, -1, 1 << 31})
    void shouldRefuseABlockThatNoVolumeHas(int blockSize) throws IOException {
        assertRefused(
                sbc(blockSize, 1, new byte[BLOCK]),
                "field=block_size, offsetBytes=8, blockSizeBytes="
                        + Integer.toUnsignedString(blockSize)
                        + ", expected=a power of two from 512 to 1048576");
    }

    @Test
    void shouldRefuseAVolumeWithoutABlockAndOneWhoseSizeIsBeyondAnyFile() throws IOException {
        assertRefused(
                sbc(BLOCK, 0, new byte[0]),
                "field=block_count, offsetBytes=12, blockCount=0, expected=at least one block");
        assertRefused(
                sbc(1 << 20, -1, new byte[BLOCK]),
                "field=content, offsetBytes=16, sizeBytes=512, expected=4503599626321920"
                        + " (4294967295 blocks of 1048576)");
        // 2^31 blocks of 2^20 bytes: 0 in 32 bits.
        assertRefused(sbc(1 << 20, 1 << 31, new byte[0]), "field=content, offsetBytes=16");
    }

    private void assertRefused(byte[] bytes, String reason) throws IOException {
        Path file = write(bytes);
        assertThatThrownBy(() -> VolumeFile.binaryContent(file, BLOCK, 1))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("binary content is refused: file=" + file + ", ")
                .hasMessageContaining(reason);
    }

    @Test
    void shouldRefuseSizesOfTheCallerThatNoVolumeHas() throws IOException {
        Path file = write(new byte[BLOCK]);
        assertThatThrownBy(() -> VolumeFile.binaryContent(file, 500, 1))
                .hasMessageContaining("blockSizeBytes=500");
        for (long blocks : new long[] {0, -1, 1L << 32}) {
            assertThatThrownBy(() -> VolumeFile.binaryContent(file, BLOCK, blocks))
                    .hasMessageContaining("blockCount=" + blocks + ", expected=1 to 4294967295");
        }
    }
}
