package io.softdpu.block.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.spi.BlockProviders;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.LocalMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content of devices in memory, and files that are no devices. */
class MemoryDevicesTest {
    private static final ValueLayout.OfLong LITTLE =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static MemorySegment blocks(ProviderDevice device) {
        LocalMemory memory = Objects.requireNonNull(device.memory(), "blocks in memory");
        return memory.segment();
    }

    /** Values that a program in another language computes: SplitMix64 of the seed. */
    @Test
    void shouldFillMemoryWithThePattern() {
        try (ProviderDevice device = BlockProviders.open("memory:4096", 512)) {
            MemorySegment blocks = blocks(device);
            assertThat(blocks.get(LITTLE, 0)).isEqualTo(word(0));
            assertThat(blocks.get(LITTLE, 4088)).isEqualTo(word(511));
        }
    }

    private static long word(long index) {
        long z = 0x736F_6674_6470_7531L + index * 0x9E37_79B9_7F4A_7C15L;
        long first = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        long second = (first ^ (first >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return second ^ (second >>> 31);
    }

    @Test
    void shouldCopyAFileAndNeverChangeIt(@TempDir Path folder) throws IOException {
        byte[] content = new byte[1024];
        content[0] = 1;
        content[1023] = 2;
        Path file = Files.write(folder.resolve("content"), content);
        try (ProviderDevice device = BlockProviders.open("copy:" + file, 512)) {
            MemorySegment blocks = blocks(device);
            assertThat(blocks.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
            assertThat(device.properties().description()).contains(file.toString());
            blocks.fill((byte) 3);
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory:512", "null:512"})
    void shouldTakeAnotherIdentityWhenItIsToldTo(String uri) {
        try (ProviderDevice device = BlockProviders.open(uri, 512)) {
            BlockIdentity before = device.identity();
            device.renewIdentity();
            assertThat(device.identity()).isNotEqualTo(before);
        }
    }

    @Test
    void shouldNameTheDeviceThatHasNoRoom() {
        assertThatThrownBy(() -> BlockProviders.open("memory:4096T", 4096))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).isEqualTo(Status.NO_MEMORY);
                            assertThat(refused.getMessage())
                                    .contains("volume=memory:4503599627370496");
                        });
    }
}
