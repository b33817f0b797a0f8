package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Topology that the environment names, loaded by the {@link TopologySource} of the program. */
final class EnvironmentTopology {
    private static final String VARIABLE = "SOFTDPU_TOPOLOGY";

    private EnvironmentTopology() {}

    static Topology read() {
        return of(
                System.getenv(VARIABLE),
                ServiceLoader.load(TopologySource.class, TopologySource.class.getClassLoader()));
    }

    /**
     * The topology of this name.
     *
     * @param named null or empty for the built-in topology
     */
    static Topology of(@Nullable String named, Iterable<TopologySource> sources) {
        if (named == null || named.isEmpty()) {
            return Topology.builtin();
        }
        List<TopologySource> found = found(named, sources);
        if (found.isEmpty()) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "no library of this program reads topologies: "
                            + VARIABLE
                            + "="
                            + named
                            + ", expected=the artefact io.softdpu:softdpu-topology-json at run"
                            + " time, or the variable unset");
        }
        if (found.size() > 1) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "several libraries of this program read topologies: "
                            + VARIABLE
                            + "="
                            + named
                            + ", sources="
                            + found.stream().map(source -> source.getClass().getName()).toList()
                            + ", expected=one of them at run time");
        }
        return found.getFirst().load(named);
    }

    private static List<TopologySource> found(String named, Iterable<TopologySource> sources) {
        List<TopologySource> found = new ArrayList<>();
        try {
            sources.forEach(found::add);
        } catch (ServiceConfigurationError e) { // its message names the provider
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "library that reads topologies cannot be loaded: "
                            + VARIABLE
                            + "="
                            + named
                            + ", reason="
                            + Reason.of(e)
                            + ", expected=a provider of "
                            + TopologySource.class.getName()
                            + " that can be created, or the variable unset",
                    e);
        }
        return found;
    }
}
