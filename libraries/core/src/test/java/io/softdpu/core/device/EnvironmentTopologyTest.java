package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import java.util.List;
import org.junit.jupiter.api.Test;

class EnvironmentTopologyTest {
    @Test
    void shouldBeTheBuiltInOneUnlessTheVariableNamesAnother() {
        assertThat(EnvironmentTopology.of(null, List.of())).isSameAs(Topology.builtin());
        assertThat(EnvironmentTopology.of("", List.of())).isSameAs(Topology.builtin());
    }

    @Test
    void shouldAskTheSourceOfTheProgramForTheName() {
        assertThat(
                        EnvironmentTopology.of("my-card", List.of(EnvironmentTopologyTest::empty))
                                .name())
                .isEqualTo("my-card");
    }

    @Test
    void shouldNameTheArtefactThatIsMissing() {
        Thrown.with(Status.BAD_CONFIG, () -> EnvironmentTopology.of("card.json", List.of()))
                .hasMessageContainingAll(
                        "SOFTDPU_TOPOLOGY=card.json", "io.softdpu:softdpu-topology-json");
    }

    private static Topology empty(String name) {
        return Topology.builder(name).build();
    }
}
