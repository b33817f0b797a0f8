package io.softdpu.block.property;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Legal and illegal properties of a block device, and its identity. */
class BlockPropertiesTest {
    private static BlockProperties properties(
            long size, int block, long preferred, long max, int alignment) {
        return new BlockProperties(size, block, preferred, max, alignment, Set.of(), "test");
    }

    @ParameterizedTest
    @CsvSource({
        "512, 512, 512, 512, 1",
        "1048576, 1048576, 1048576, 1048576, 4096",
        "1024, 512, 512, 33554432, 512",
    })
    void shouldAcceptLegalOnes(long size, int block, long preferred, long max, int alignment) {
        BlockProperties legal = properties(size, block, preferred, max, alignment);
        assertThat(legal.sizeBytes()).isEqualTo(size);
        assertThat(legal.has(BlockFeature.FLUSH)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 512, 512, 512, 1, sizeBytes=0",
        "-512, 512, 512, 512, 1, sizeBytes=-512",
        "513, 512, 512, 512, 1, sizeBytes=513",
        "512, 256, 512, 512, 1, blockSizeBytes=256",
        "512, 2097152, 512, 512, 1, blockSizeBytes=2097152",
        "3000, 1000, 1000, 1000, 1, blockSizeBytes=1000",
        "512, 512, 0, 512, 1, preferredRequestBytes=0",
        "512, 512, 1024, 512, 1, preferredRequestBytes=1024",
        "512, 512, 512, 700, 1, maxRequestBytes=700",
        "512, 512, 512, 512, 0, memoryAlignmentBytes=0",
        "512, 512, 512, 512, 3, memoryAlignmentBytes=3",
        "512, 512, 512, 512, -2147483648, memoryAlignmentBytes=-2147483648",
    })
    void shouldNameWhatIsIllegal(
            long size, int block, long preferred, long max, int alignment, String named) {
        assertThatThrownBy(() -> properties(size, block, preferred, max, alignment))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).isEqualTo(Status.INVALID_VALUE);
                            assertThat(refused.getMessage()).contains(named, "expected=");
                        });
    }

    @Test
    void shouldKeepACopyOfTheFeatures() {
        Set<BlockFeature> features = EnumSet.of(BlockFeature.FUA);
        BlockProperties properties = new BlockProperties(512, 512, 512, 512, 1, features, "test");
        features.add(BlockFeature.FLUSH);

        assertThat(properties.features()).containsExactly(BlockFeature.FUA);
        assertThatThrownBy(() -> properties.features().add(BlockFeature.FLUSH))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    // ---- identity ----

    @Test
    void shouldKeepAllBytesOfAnIdentity() {
        BlockIdentity identity = new BlockIdentity(0x0123_4567_89AB_CDEFL, -2);

        assertThat(identity).hasToString("0123456789abcdeffffffffffffffffe");
        assertThat(identity.toBytes()).hasSize(BlockIdentity.SIZE_BYTES).startsWith(0x01, 0x23);
        assertThat(BlockIdentity.ofBytes(identity.toBytes())).isEqualTo(identity);
        assertThat(BlockIdentity.random()).isNotEqualTo(BlockIdentity.random());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 15, 17})
    void shouldRefuseAnIdentityOfAnotherLength(int length) {
        assertThatThrownBy(() -> BlockIdentity.ofBytes(new byte[length]))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused ->
                                assertThat(refused.getMessage())
                                        .contains("sizeBytes=" + length, "expected=16"));
    }
}
