package io.softdpu.rdma.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.SeededRandom;
import org.junit.jupiter.api.Test;

class SequenceNumberTest {

    @Test
    void shouldWrapFromTheLargestNumberToZero() {
        assertThat(SequenceNumber.next(0xff_ffff)).isZero();
        assertThat(SequenceNumber.add(0xff_fffe, 3)).isEqualTo(1);
        assertThat(SequenceNumber.add(1, -3)).isEqualTo(0xff_fffe);
        assertThat(SequenceNumber.of(0x1234_5678)).isEqualTo(0x34_5678);
    }

    @Test
    void shouldCountStepsInTheShorterDirection() {
        assertThat(SequenceNumber.distance(0xff_ffff, 1)).isEqualTo(2);
        assertThat(SequenceNumber.distance(1, 0xff_ffff)).isEqualTo(-2);
        assertThat(SequenceNumber.distance(5, 5)).isZero();
        assertThat(SequenceNumber.distance(0, 0x7f_ffff)).isEqualTo(0x7f_ffff);
        assertThat(SequenceNumber.distance(0, 0x80_0000)).isEqualTo(-0x80_0000);
        assertThat(SequenceNumber.distance(0x80_0000, 0)).isEqualTo(-0x80_0000);
    }

    @Test
    void shouldOrderNumbersThatAreLessThanHalfOfAllApart() {
        assertThat(SequenceNumber.isBefore(0xff_ffff, 0)).isTrue();
        assertThat(SequenceNumber.isBefore(0, 0xff_ffff)).isFalse();
        assertThat(SequenceNumber.isBefore(7, 7)).isFalse();
        assertThat(SequenceNumber.isBefore(7, 7 + 0x80_0000)).isFalse();
        assertThat(SequenceNumber.isBefore(7 + 0x80_0000, 7)).isFalse();
    }

    @Test
    void shouldTellWhichNumbersAreInAWindow() {
        assertThat(SequenceNumber.isInWindow(0xff_ffff, 0xff_ffff, 1)).isTrue();
        assertThat(SequenceNumber.isInWindow(0, 0xff_ffff, 2)).isTrue();
        assertThat(SequenceNumber.isInWindow(1, 0xff_ffff, 2)).isFalse();
        assertThat(SequenceNumber.isInWindow(0xff_fffe, 0xff_ffff, 2)).isFalse();
        assertThat(SequenceNumber.isInWindow(5, 5, 0)).isFalse();
        assertThat(SequenceNumber.isInWindow(4, 5, SequenceNumber.MAX_WINDOW)).isFalse();
    }

    @Test
    void shouldGoBackBySteps(SeededRandom random) {
        for (int i = 0; i < 10_000; i++) {
            int from = random.nextInt(1 << 24);
            int steps = random.nextInt(-SequenceNumber.MAX_WINDOW, SequenceNumber.MAX_WINDOW);
            int to = SequenceNumber.add(from, steps);
            assertThat(to).isBetween(0, SequenceNumber.MAX);
            assertThat(SequenceNumber.distance(from, to)).isEqualTo(steps);
            assertThat(SequenceNumber.isInWindow(to, from, SequenceNumber.MAX_WINDOW))
                    .isEqualTo(steps >= 0);
        }
    }
}
