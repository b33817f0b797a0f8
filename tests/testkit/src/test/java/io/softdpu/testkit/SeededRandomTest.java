package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;

class SeededRandomTest {

    @Test
    void shouldGiveTheSameValuesForTheSameSeed() {
        SeededRandom first = new SeededRandom(42);
        SeededRandom second = new SeededRandom(42);

        assertThat(first.bytes(100)).isEqualTo(second.bytes(100));
        assertThat(first.fork().nextLong()).isEqualTo(second.fork().nextLong());
        assertThat(first.name(12)).isEqualTo(second.name(12)).hasSize(12);
        assertThat(first.nextLong()).isNotEqualTo(new SeededRandom(43).nextLong());
    }

    @Test
    void shouldStayWithinItsLimits(SeededRandom random) {
        for (int i = 0; i < 1_000; i++) {
            assertThat(random.between(-3, 3)).isBetween(-3L, 3L);
            assertThat(random.between(Long.MAX_VALUE - 1, Long.MAX_VALUE))
                    .isGreaterThanOrEqualTo(Long.MAX_VALUE - 1);
        }
        assertThat(random.between(7, 7)).isEqualTo(7);
        assertThat(random.chance(0)).isFalse();
        assertThat(random.chance(1)).isTrue();
    }

    @Test
    void shouldFillAWholeSegmentAndNothingElse(SeededRandom random) {
        byte[] bytes = new byte[29];
        random.fill(MemorySegment.ofArray(bytes).asSlice(1, 27));

        assertThat(bytes[0]).isZero();
        assertThat(bytes[28]).isZero();
        MemorySegment written = MemorySegment.ofArray(bytes).asSlice(1, 27);
        assertThat(written.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isNotZero();
        assertThat(written.asSlice(20, 7).toArray(ValueLayout.JAVA_BYTE)).isNotEqualTo(new byte[7]);
    }

    @Test
    void shouldAlwaysDamageWhatItDamages(SeededRandom random) {
        byte[] original = random.bytes(3);
        byte[] kept = original.clone();
        for (int i = 0; i < 1_000; i++) {
            assertThat(random.damaged(original)).hasSameSizeAs(kept).isNotEqualTo(kept);
        }
        assertThat(original).isEqualTo(kept);
    }

    @Test
    void shouldGiveEachParameterASequenceOfItsOwn(SeededRandom one, SeededRandom other) {
        assertThat(one.seed()).isEqualTo(other.seed());
        assertThat(one.nextLong()).isNotEqualTo(other.nextLong());
    }

    @Test
    void shouldNameTheSeedInAFailure() {
        TestExecutionResult result =
                Launching.run(
                                DiscoverySelectors.selectMethod(
                                        Failing.class, "fails", "io.softdpu.testkit.SeededRandom"))
                        .onlyResult();

        assertThat(result.getThrowable()).isPresent();
        assertThat(result.getThrowable().get().getSuppressed())
                .anySatisfy(suppressed ->
                        assertThat(suppressed)
                                .hasMessage("run it again with -Dsoftdpu.seed=" + Failing.seed));
    }

    /** Run by this test through the launcher only; surefire takes no nested class by its name. */
    static class Failing {

        private static long seed;

        @Test
        void fails(SeededRandom random) {
            seed = random.seed();
            throw new AssertionError("on purpose");
        }
    }
}
