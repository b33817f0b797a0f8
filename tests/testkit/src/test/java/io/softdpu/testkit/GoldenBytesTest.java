package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GoldenBytesTest {
    private static final GoldenBytes GOLDEN = GoldenBytes.of("0102 0304");

    @Test
    void shouldReplaceSomeBytesAndKeepItsOwn() {
        assertThat(GOLDEN.bytes()).containsExactly(1, 2, 3, 4);
        assertThat(GOLDEN.with(1, "f0ff")).containsExactly(1, 0xf0, 0xff, 4);
        GOLDEN.bytes()[0] = 9;
        assertThat(GOLDEN).hasToString("01020304");
    }

    @Test
    void shouldBeDamagedOrOfAnotherLength(SeededRandom random) {
        boolean damaged = false;
        boolean other = false;
        while (!damaged || !other) {
            byte[] hostile = GOLDEN.hostile(random);
            damaged |= hostile.length == 4;
            other |= hostile.length != 4;
        }
        assertThat(GOLDEN).hasToString("01020304");
    }
}
