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
    @ValueSource(
            longs = {
                0,
                1,
                7,
                4096,
                NativeMemory.CRITICAL_LIMIT_BYTES - 1,
                NativeMemory.CRITICAL_LIMIT_BYTES,
                NativeMemory.CRITICAL_LIMIT_BYTES + 1,
                3 << 20
            })
    void shouldCopyExactlyTheBytesAskedFor(long sizeBytes) {
        byte[] bytes = new byte[(int) sizeBytes + 2 * GUARD_BYTES];
        new Random(sizeBytes).nextBytes(bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            MemorySegment destination = arena.allocate(bytes.length).fill((byte) 0xa5);
            MemorySegment guard = arena.allocate(GUARD_BYTES).fill((byte) 0xa5);

            NativeMemory.copy(
                    destination.address() + GUARD_BYTES, source.address() + GUARD_BYTES, sizeBytes);

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

    @Test
    void shouldRefuseANegativeSize() {
        assertThatThrownBy(() -> NativeMemory.copy(0, 0, -1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
