package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ResourceUse;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class UseByPhaseTest {
    private final UseByPhase use = new UseByPhase();

    @Test
    void shouldTakeTheDifferenceBetweenTheAnswersAtAPhasesTwoEnds() {
        phase(DemoPhase.WARM_UP);
        phase(DemoPhase.IDLE);
        for (DemoRole role : DemoRole.values()) {
            use.answered(role, new ResourceUse(1000, 10, 100));
            use.answered(role, new ResourceUse(2000, 20, 200));
            use.answered(role, new ResourceUse(2100, 25, 230));
            use.answered(role, new ResourceUse(3100, 75, 930));
        }

        assertThat(use.used())
                .containsOnlyKeys(step(DemoPhase.WARM_UP), step(DemoPhase.IDLE))
                .containsEntry(
                        step(DemoPhase.IDLE),
                        Map.of(
                                "target", new ResourceUse(1000, 50, 700),
                                "zero-copy", new ResourceUse(1000, 50, 700),
                                "initiator", new ResourceUse(1000, 50, 700)));
        assertThat(use.used().get(step(DemoPhase.IDLE)).get("target").processors()).isEqualTo(0.05);
    }

    @Test
    void shouldTakeTheLastWordOfWhoHasEndedBeforeItWasAsked() {
        phase(DemoPhase.IDLE);
        use.answered(DemoRole.TARGET, new ResourceUse(0, 0, 0));
        use.answered(DemoRole.TARGET, new ResourceUse(500, 5, 50));

        assertThat(use.used().get(step(DemoPhase.IDLE)).get("target"))
                .isEqualTo(new ResourceUse(500, 5, 50));
    }

    @Test
    void shouldSayNothingOfAPhaseThatDidNotEnd() {
        var _ = use.border(step(DemoPhase.IDLE), false, OptionalLong.empty());
        use.answered(DemoRole.TARGET, new ResourceUse(1, 1, 1));

        assertThat(use.used()).isEmpty();
    }

    @Test
    void shouldReadBackWhatAProcessSays() {
        ResourceUse now = ResourceUse.now();

        assertThat(ResourceUse.parse(now.toString())).contains(now);
        assertThat(ResourceUse.parse("resources: nanos=1, cpuNanos=2")).isEmpty();
    }

    @Test
    void shouldFindWhatOtherProcessesUsedDuringAMeasurement() {
        var _ = use.border(step(DemoPhase.IDLE), false, OptionalLong.of(5000));
        var _ = use.border(step(DemoPhase.IDLE), true, OptionalLong.of(7000));
        for (DemoRole role : DemoRole.values()) {
            use.answered(role, new ResourceUse(1000, 0, 0));
            use.answered(role, new ResourceUse(2000, 500, 0));
        }

        assertThat(use.othersProcessors()).as("2000 - 3 * 500 in 1000").isEqualTo(0.5);
    }

    @Test
    void shouldBlameNoOthersWhereTheKernelDoesNotTell() {
        phase(DemoPhase.IDLE);

        assertThat(use.othersProcessors()).isZero();
    }

    private static DemoStep step(DemoPhase phase) {
        return new DemoStep(phase, 1);
    }

    private void phase(DemoPhase phase) {
        for (boolean finished : new boolean[] {false, true}) {
            assertThat(use.border(step(phase), finished, OptionalLong.empty()))
                    .as("the initiator says it unasked")
                    .containsExactlyInAnyOrder(DemoRole.TARGET, DemoRole.ZERO_COPY);
        }
    }
}
