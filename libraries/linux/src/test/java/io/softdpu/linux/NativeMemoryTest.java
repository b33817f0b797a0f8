package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NativeMemoryTest {
    private static final int GUARD_BYTES = 64;

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 7, 4096, (256 << 10) - 1, 256 << 10, 3 << 20})
    void shouldCopyExactlyTheBytesAskedFor(long sizeBytes) {
        byte[] bytes = new byte[(int) sizeBytes + 2 * GUARD_BYTES];
        new Random(sizeBytes).nextBytes(bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            MemorySegment destination = arena.allocate(bytes.length).fill((byte) 0xa5);
            MemorySegment guard = arena.allocate(GUARD_BYTES).fill((byte) 0xa5);

            NativeMemory.copy(source, GUARD_BYTES, destination, GUARD_BYTES, sizeBytes);

            assertThat(
                            MemorySegment.mismatch(
                                    destination,
                                    GUARD_BYTES,
                                    GUARD_BYTES + sizeBytes,
                                    source,
                                    GUARD_BYTES,
                                    GUARD_BYTES + sizeBytes))
                    .isEqualTo(-1);
            assertThat(destination.asSlice(0, GUARD_BYTES).mismatch(guard)).isEqualTo(-1);
            assertThat(destination.asSlice(GUARD_BYTES + sizeBytes).mismatch(guard)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 8})
    void shouldCopyBetweenOverlappingRangesOfOneSegment(long distance) {
        byte[] bytes = new byte[1 << 20];
        new Random(distance).nextBytes(bytes);
        int sizeBytes = bytes.length - 16;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);

            NativeMemory.copy(segment, 8, segment, 8 + distance, sizeBytes);

            assertThat(segment.asSlice(8 + distance, sizeBytes))
                    .satisfies(moved ->
                            assertThat(
                                            moved.mismatch(
                                                    MemorySegment.ofArray(bytes)
                                                            .asSlice(8, sizeBytes)))
                                    .isEqualTo(-1));
        }
    }

    @Test
    void shouldRefuseRangesOutsideTheirSegments() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(64);
            MemorySegment other = arena.allocate(128);
            for (long[] range :
                    new long[][] {{0, -1}, {-1, 8}, {0, 65}, {57, 8}, {Long.MAX_VALUE, 8}}) {
                assertThatThrownBy(() -> NativeMemory.copy(segment, range[0], other, 0, range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> NativeMemory.copy(other, 0, segment, range[0], range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @Test
    void shouldRefuseMemoryThatLibcCannotCopy() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(64);
            MemorySegment heap = MemorySegment.ofArray(new byte[64]);
            assertThatThrownBy(() -> NativeMemory.copy(heap, 0, segment, 0, 64))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> NativeMemory.copy(segment, 0, heap, 0, 64))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> NativeMemory.copy(segment, 0, segment.asReadOnly(), 0, 64))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("destination writable");
        }
    }

    @Test
    void shouldRefuseMemoryThatWasFreed() {
        MemorySegment freed;
        try (Arena arena = Arena.ofConfined()) {
            freed = arena.allocate(64);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(64);
            assertThatThrownBy(() -> NativeMemory.copy(freed, 0, segment, 0, 64))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> NativeMemory.copy(segment, 0, freed, 0, 64))
                    .isInstanceOf(IllegalStateException.class);
        }
    }
}
