package io.softdpu.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SideTest {
    @Test
    void shouldBeFoundByItsWord() {
        for (Side side : Side.values()) {
            assertThat(Side.of(side.id())).isEqualTo(side);
        }
        assertThat(Side.of("DPU")).isEqualTo(Side.DPU);
    }

    @Test
    void shouldAnswerAnUnknownWordWithThoseThatThereAre() {
        Thrown.with(Status.INVALID_VALUE, () -> Side.of("moon"))
                .hasMessageContainingAll("moon", "host, dpu, target");
    }
}
