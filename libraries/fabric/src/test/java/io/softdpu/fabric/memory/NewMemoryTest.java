package io.softdpu.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NewMemoryTest {
    private static final long MEBIBYTE = 1 << 20;
    private static final long SLICE = NewMemory.SLICE_BYTES;

    private final List<Long> needed = new ArrayList<>();
    private final List<Long> borders = new ArrayList<>();
    private final AtomicLong unchecked = new AtomicLong();
    private long availableBytes = Long.MAX_VALUE;

    @ParameterizedTest
    @CsvSource({"8,9", "256,288", "300,332", "1024,1056"})
    void shouldLeaveSomethingForTheRestOfTheProcess(long mebibytes, long neededMebibytes) {
        memory(mebibytes * MEBIBYTE);

        assertThat(needed).containsExactly(neededMebibytes * MEBIBYTE);
    }

    @Test
    void shouldRefuseItBeforeAnythingIsPopulated() {
        availableBytes = 332 * MEBIBYTE - 1;

        assertThatThrownBy(() -> memory(300 * MEBIBYTE))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.NO_MEMORY))
                .hasMessage("data, shortage, expected=a smaller size or a higher limit");
    }

    /** By another process that populates its memory meanwhile, or by a lower limit. */
    @Test
    void shouldStopWhereTheRoomIsTakenWhileItIsPopulated() {
        NewMemory memory = memory(4 * SLICE + 1);

        assertThatThrownBy(() ->
                        memory.populate(
                                4 * SLICE + 4096,
                                (from, until) -> {
                                    borders.add(until);
                                    if (until == 2 * SLICE) {
                                        availableBytes = 2 * SLICE;
                                    }
                                }))
                .isInstanceOf(FabricException.class);
        assertThat(borders).containsExactly(SLICE, 2 * SLICE);
    }

    @Test
    void shouldPopulateEachPageOnceAndCheckWhatIsLeft() {
        NewMemory memory = memory(2 * SLICE + 1);

        memory.populate(
                2 * SLICE + 4096,
                (from, until) -> {
                    borders.add(from);
                    borders.add(until);
                });

        assertThat(borders)
                .containsExactly(0L, SLICE, SLICE, 2 * SLICE, 2 * SLICE, 2 * SLICE + 4096);
        long reserve = (2 * SLICE + 1) / 8;
        assertThat(needed)
                .containsExactly(2 * SLICE + 1 + reserve, SLICE + 4096 + reserve, 4096 + reserve);
    }

    @Test
    void shouldReadTheLimitsOnceForManySmallPieces() {
        for (int i = 0; i < 15; i++) {
            memory(MEBIBYTE).populate(MEBIBYTE, (from, until) -> borders.add(until));
        }
        assertThat(needed).isEmpty();
        assertThat(borders).hasSize(15).containsOnly(MEBIBYTE);

        memory(MEBIBYTE);
        assertThat(needed)
                .as("for the next ones too")
                .containsExactly(16 * MEBIBYTE + MEBIBYTE / 8);

        availableBytes = 0;
        for (int i = 0; i < 15; i++) {
            memory(MEBIBYTE);
        }
        assertThat(needed).hasSize(1);
        assertThatThrownBy(() -> memory(MEBIBYTE)).isInstanceOf(FabricException.class);
        memory(2 * MEBIBYTE - 4096);
        assertThatThrownBy(() -> memory(2 * MEBIBYTE)).isInstanceOf(FabricException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {3L << 40, Long.MAX_VALUE})
    void shouldRefuseMoreThanAnyMachineHas(long sizeBytes) {
        availableBytes = 1L << 40;

        assertThatThrownBy(() -> memory(sizeBytes)).isInstanceOf(FabricException.class);
    }

    private NewMemory memory(long sizeBytes) {
        return new NewMemory(
                "data",
                sizeBytes,
                bytes -> {
                    needed.add(bytes);
                    return bytes > availableBytes ? Optional.of("shortage") : Optional.empty();
                },
                unchecked);
    }
}
