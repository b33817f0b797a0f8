package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrowthCheckTest {
    private static final int ROUNDS = 64;

    /** Eight times the limit from half to half: what was there before may become free meanwhile. */
    private static final int KEPT_BYTES = (int) (8 * GrowthCheck.HEAP_BYTES) / (ROUNDS / 2);

    @Test
    void shouldFailWhereEachRoundKeepsALittleOfTheHeap() {
        List<byte[]> kept = new ArrayList<>();

        assertThatThrownBy(() -> GrowthCheck.over(8, ROUNDS, _ -> kept.add(new byte[KEPT_BYTES])))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("heap grows: firstHalfBytes=")
                .hasMessageContaining("limitBytes=" + GrowthCheck.HEAP_BYTES);

        assertThat(kept).hasSize(8 + ROUNDS);
    }

    @Test
    void shouldFailWhereEachRoundKeepsSomeMemoryOutsideOfTheHeap() {
        List<ByteBuffer> kept = new ArrayList<>();

        assertThatThrownBy(() ->
                        GrowthCheck.over(
                                8, ROUNDS, _ -> kept.add(ByteBuffer.allocateDirect(1 << 19))))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("memory outside the heap grows: firstHalfBytes=")
                .hasMessageContaining("limitBytes=" + GrowthCheck.NATIVE_BYTES);

        assertThat(kept).hasSize(8 + ROUNDS);
    }

    @Test
    void shouldLetPassWhatIsGivenBack() throws Exception {
        List<byte[]> last = new ArrayList<>();

        String found =
                GrowthCheck.over(
                        8,
                        ROUNDS,
                        _ -> {
                            last.clear();
                            last.add(new byte[16 << 10]);
                        });

        assertThat(found).startsWith("sessions=" + ROUNDS + ", heap_growth_bytes=");
    }
}
