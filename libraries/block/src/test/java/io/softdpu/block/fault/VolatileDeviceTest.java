package io.softdpu.block.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.ProvidedDevices;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.spi.BlockProviders;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that a volatile cache has passed to the device below, and when. */
@SoftDpuTest(sanitized = false)
class VolatileDeviceTest {
    private static final int BLOCK = 512;
    private static final int BLOCKS = 128;

    private SoftDpu card;
    private ProviderDevice below;
    private FaultFixture fixture;

    @BeforeEach
    void begin(SoftDpu given) {
        card = given;
        below = BlockProviders.open("memory:" + BLOCKS * BLOCK, BLOCK);
    }

    @AfterEach
    void close() throws Exception {
        if (fixture == null) {
            below.close();
        } else {
            fixture.close();
        }
    }

    private void open(ProviderDevice wrapped, long seed) {
        fixture =
                FaultFixture.open(
                        card.dpuDevice(), ProvidedDevices.open(VolatileDevice.over(wrapped, seed)));
    }

    private static byte[] content(int block) {
        byte[] bytes = new byte[BLOCK];
        Arrays.fill(bytes, (byte) (block + 1));
        return bytes;
    }

    private void writeAll() {
        for (int block = 0; block < BLOCKS; block++) {
            assertThat(fixture.write((long) block * BLOCK, content(block), false))
                    .isEqualTo(Status.SUCCESS);
        }
    }

    /** The blocks that the device below has got. */
    private List<Integer> writtenOut() {
        MemorySegment blocks = Objects.requireNonNull(below.memory()).segment();
        List<Integer> found = new ArrayList<>();
        for (int block = 0; block < BLOCKS; block++) {
            byte[] there =
                    blocks.asSlice((long) block * BLOCK, BLOCK).toArray(ValueLayout.JAVA_BYTE);
            if (Arrays.equals(there, content(block))) {
                found.add(block);
            }
        }
        return found;
    }

    @Test
    void shouldHoldWritesUntilAFlushExceptForSomeInAnyOrder() {
        open(below, 3);
        writeAll();
        for (int block = 0; block < BLOCKS; block++) {
            assertThat(fixture.read((long) block * BLOCK, BLOCK)).isEqualTo(content(block));
        }
        List<Integer> early = writtenOut();
        assertThat(early).hasSizeBetween(1, BLOCKS - 1);
        assertThat(early.getLast()).as("no prefix").isGreaterThanOrEqualTo(early.size());

        assertThat(fixture.flush()).isEqualTo(Status.SUCCESS);
        assertThat(writtenOut()).hasSize(BLOCKS);
    }

    @Test
    void shouldWriteOutTheSameBlocksWithTheSameSeed() throws Exception {
        open(below, 3);
        writeAll();
        List<Integer> first = writtenOut();
        fixture.close();
        below = BlockProviders.open("memory:" + BLOCKS * BLOCK, BLOCK);
        open(below, 3);
        writeAll();
        assertThat(writtenOut()).isEqualTo(first);
        fixture.close();
        below = BlockProviders.open("memory:" + BLOCKS * BLOCK, BLOCK);
        open(below, 4);
        writeAll();
        assertThat(writtenOut()).isNotEqualTo(first);
    }

    @Test
    void shouldWriteOutAWriteWithFuaAlone() {
        open(below, 3);
        writeAll();
        List<Integer> before = new ArrayList<>(writtenOut());
        int missing = 0;
        while (before.contains(missing)) {
            missing++;
        }
        assertThat(fixture.write((long) missing * BLOCK, content(missing), true))
                .isEqualTo(Status.SUCCESS);
        before.add(missing);
        assertThat(writtenOut()).containsExactlyInAnyOrderElementsOf(before);
    }

    @Test
    void shouldHoldZerosUntilAFlush() {
        open(below, 3);
        assertThat(fixture.run(fixture.context.allocateWriteZeroes(0, BLOCKS * BLOCK)))
                .isEqualTo(Status.SUCCESS);
        assertThat(fixture.read(0, BLOCKS * BLOCK)).containsOnly(0);
        MemorySegment blocks = Objects.requireNonNull(below.memory()).segment();
        assertThat(blocks.mismatch(MemorySegment.ofArray(new byte[BLOCKS * BLOCK])))
                .isNotEqualTo(-1);
        assertThat(fixture.flush()).isEqualTo(Status.SUCCESS);
        assertThat(blocks.mismatch(MemorySegment.ofArray(new byte[BLOCKS * BLOCK]))).isEqualTo(-1);
    }

    @Test
    void shouldReadBlocksThatWereNeverWritten() {
        open(below, 3);
        MemorySegment blocks = Objects.requireNonNull(below.memory()).segment();
        byte[] expected = blocks.toArray(ValueLayout.JAVA_BYTE);
        assertThat(fixture.write(5L * BLOCK, content(5), false)).isEqualTo(Status.SUCCESS);
        System.arraycopy(content(5), 0, expected, 5 * BLOCK, BLOCK);

        assertThat(fixture.read(0, BLOCKS * BLOCK)).isEqualTo(expected);
    }

    @Test
    void shouldFlushWhatAnotherContextHasWritten() throws Exception {
        open(below, 3);
        writeAll();
        try (FaultFixture other = new FaultFixture(card.dpuDevice(), fixture.blockDevice, false)) {
            assertThat(other.read(7L * BLOCK, BLOCK)).isEqualTo(content(7));
            assertThat(other.flush()).isEqualTo(Status.SUCCESS);
        }
        assertThat(writtenOut()).hasSize(BLOCKS);
    }

    @Test
    void shouldTellOfAWriteOutThatFailsByTheFlush() {
        ProviderDevice failing =
                BlockProviders.open(
                        "fault:error=write/IO_FAILED/1:memory:" + BLOCKS * BLOCK, BLOCK);
        below.close();
        below = failing;
        open(failing, 3);
        writeAll();
        assertThat(fixture.read(7L * BLOCK, BLOCK)).isEqualTo(content(7));
        assertThat(fixture.flush()).isEqualTo(Status.IO_FAILED);
        assertThat(fixture.read(7L * BLOCK, BLOCK)).isEqualTo(content(7));
    }

    @Test
    void shouldHaveAnIdentityOfItsOwn() {
        open(below, 3);
        assertThat(fixture.blockDevice.identity()).isNotEqualTo(below.identity());
        assertThat(fixture.blockDevice.properties().features())
                .contains(BlockFeature.FLUSH)
                .doesNotContain(BlockFeature.EXTENTS);
    }

    @Test
    void shouldRefuseADeviceThatCannotBeFlushed() {
        assertThatThrownBy(
                        () -> VolatileDevice.over(ProvidedDevices.with(BlockFeature.READ_ONLY), 1))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).isEqualTo(Status.NOT_SUPPORTED);
                            assertThat(refused.getMessage()).contains("volatile cache", "FLUSH");
                        });
    }
}
