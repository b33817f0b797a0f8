package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ResourceUse;
import java.util.Map;
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
                .containsOnlyKeys(DemoPhase.WARM_UP, DemoPhase.IDLE)
                .containsEntry(
                        DemoPhase.IDLE,
                        Map.of(
                                "target", new ResourceUse(1000, 50, 700),
                                "zero-copy", new ResourceUse(1000, 50, 700),
                                "initiator", new ResourceUse(1000, 50, 700)));
        assertThat(use.used().get(DemoPhase.IDLE).get("target").processors()).isEqualTo(0.05);
    }

    @Test
    void shouldTakeTheLastWordOfWhoHasEndedBeforeItWasAsked() {
        phase(DemoPhase.IDLE);
        use.answered(DemoRole.TARGET, new ResourceUse(0, 0, 0));
        use.answered(DemoRole.TARGET, new ResourceUse(500, 5, 50));

        assertThat(use.used().get(DemoPhase.IDLE).get("target"))
                .isEqualTo(new ResourceUse(500, 5, 50));
    }

    @Test
    void shouldSayNothingOfAPhaseThatDidNotEnd() {
        var _ = use.border(DemoPhase.IDLE, false);
        use.answered(DemoRole.TARGET, new ResourceUse(1, 1, 1));

        assertThat(use.used()).isEmpty();
    }

    @Test
    void shouldReadBackWhatAProcessSays() {
        ResourceUse now = ResourceUse.now();

        assertThat(ResourceUse.parse(now.toString())).contains(now);
        assertThat(ResourceUse.parse("resources: nanos=1, cpuNanos=2")).isEmpty();
    }

    private void phase(DemoPhase phase) {
        for (boolean finished : new boolean[] {false, true}) {
            assertThat(use.border(phase, finished))
                    .as("the initiator says it unasked")
                    .containsExactlyInAnyOrder(DemoRole.TARGET, DemoRole.ZERO_COPY);
        }
    }
}
