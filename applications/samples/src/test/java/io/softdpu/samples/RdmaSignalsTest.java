package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the values of the sync event of the RDMA samples. */
class RdmaSignalsTest {
    @ParameterizedTest
    @ValueSource(longs = {0, RdmaSignals.SIGNAL, RdmaSignals.ANSWER + 1, RdmaSignals.COMPLETION})
    @Clause("rdma-217")
    void shouldRefuseAnotherValueThanThePeers(long value) {
        assertThatThrownBy(() -> RdmaSignals.verify(value, RdmaSignals.ANSWER))
                .isInstanceOf(WrongDataException.class)
                .hasMessageContainingAll(
                        Text.format(
                                "value of the sync event is wrong: value=%#x, expected=0xd0cb",
                                value));
        assertThatCode(() -> RdmaSignals.verify(value, value)).doesNotThrowAnyException();
    }

    @Test
    void shouldGrowFromSignalToSignal() {
        assertThat(Long.compareUnsigned(RdmaSignals.SIGNAL, 0)).isPositive();
        assertThat(Long.compareUnsigned(RdmaSignals.ANSWER, RdmaSignals.SIGNAL)).isPositive();
        assertThat(Long.compareUnsigned(RdmaSignals.COMPLETION, RdmaSignals.ANSWER)).isPositive();
    }
}
