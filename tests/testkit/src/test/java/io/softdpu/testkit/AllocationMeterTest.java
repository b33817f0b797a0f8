package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

class AllocationMeterTest {
    private static final int ROUNDS = 1000;
    private static final int RARELY = 10;

    private volatile Object kept = this;
    private int count;

    @Test
    void shouldPassWhereOnlyTheFirstMeasurementsAllocate() {
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (count++ == ROUNDS + 1) {
                        kept = new byte[100];
                    }
                });
        assertThat(count).isGreaterThanOrEqualTo(3 * ROUNDS);
    }

    @Test
    void shouldFailWhereOneRoundInTenAllocates() {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() ->
                        AllocationMeter.assertNone(
                                ROUNDS,
                                () -> {
                                    if (count++ % RARELY == 0) {
                                        kept = new byte[100];
                                    }
                                }))
                .withMessageContaining("rounds allocate: rounds=1000");
        assertThat(kept).isNotSameAs(this);
    }
}
