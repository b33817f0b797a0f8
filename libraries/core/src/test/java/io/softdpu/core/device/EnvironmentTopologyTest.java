package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import java.util.List;
import java.util.ServiceConfigurationError;
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

    @Test
    void shouldNotChooseOneOfSeveralSources() {
        Thrown.with(
                        Status.BAD_CONFIG,
                        () ->
                                EnvironmentTopology.of(
                                        "my-card", List.of(new FirstSource(), new SecondSource())))
                .hasMessageContainingAll(
                        "SOFTDPU_TOPOLOGY=my-card",
                        FirstSource.class.getName(),
                        SecondSource.class.getName());
    }

    @Test
    void shouldNameASourceThatCannotBeLoaded() {
        ServiceConfigurationError broken =
                new ServiceConfigurationError("org.example.Broken could not be instantiated");
        Thrown.with(
                        Status.BAD_CONFIG,
                        () ->
                                EnvironmentTopology.of(
                                        "my-card",
                                        () -> {
                                            throw broken;
                                        }))
                .hasMessageContainingAll("SOFTDPU_TOPOLOGY=my-card", "org.example.Broken")
                .hasCause(broken);
        assertThat(EnvironmentTopology.of("", List.of(new FirstSource(), new SecondSource())))
                .as("without the variable no source is asked")
                .isSameAs(Topology.builtin());
    }

    private static final class FirstSource implements TopologySource {
        @Override
        public Topology load(String fileOrName) {
            return empty(fileOrName);
        }
    }

    private static final class SecondSource implements TopologySource {
        @Override
        public Topology load(String fileOrName) {
            return empty(fileOrName);
        }
    }

    private static Topology empty(String name) {
        return Topology.builder(name).build();
    }
}
