package io.softdpu.perf.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests of what results say about the machine. */
class MachineTest {
    @Test
    void shouldReadTheProcessorTimeOfTheMachine() {
        assertThat(MachineUse.parse("cpu  10 1 2 500 70 3 4 5 9 9")).hasValue(250_000_000);
        assertThat(MachineUse.parse("cpu 1 2 3")).isEmpty();
        assertThat(MachineUse.parse("")).isEmpty();
        assertThat(MachineUse.now()).as("on Linux").isPresent();
    }

    @Test
    void shouldCountWhatOthersUsedBetweenTwoMoments() {
        OptionalLong before = OptionalLong.of(100);
        OptionalLong after = OptionalLong.of(400);

        assertThat(MachineUse.othersProcessors(before, after, 100, 100)).isEqualTo(2);
        assertThat(MachineUse.othersProcessors(before, after, 900, 100)).as("rounding").isZero();
        assertThat(MachineUse.othersProcessors(before, OptionalLong.empty(), 0, 100)).isZero();
        assertThat(MachineUse.othersProcessors(before, after, 0, 0)).as("no time").isZero();
    }

    @Test
    void shouldNameTheProcessorAsTheKernelDoes() {
        assertThat(
                        MachineInfo.processorModel(
                                Stream.of(
                                        "processor\t: 0", "model name\t: A \u001b[2J CPU: 1 GHz")))
                .isEqualTo("A \\u001b[2J CPU: 1 GHz");
        assertThat(MachineInfo.processorModel(Stream.of("processor\t: 0"))).isEqualTo("unknown");
        assertThat(MachineInfo.here().processors()).isPositive();
        assertThat(MachineInfo.here().jdk()).contains(Runtime.version().toString());
    }

    @Test
    void shouldTakeTheMedianRun() {
        assertThat(Runs.median(List.of(3, 1, 2), Integer::doubleValue)).isEqualTo(2);
        assertThat(Runs.median(List.of(4, 3, 1, 2), Integer::doubleValue)).isEqualTo(2);
        assertThat(Runs.medianName(3)).isEqualTo("median");
        assertThat(Runs.medianName(4)).isEqualTo("lower of the two in the middle");
    }
}
