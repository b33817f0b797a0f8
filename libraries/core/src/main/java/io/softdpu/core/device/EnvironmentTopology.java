package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Iterator;
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
        Iterator<TopologySource> found = sources.iterator();
        if (!found.hasNext()) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "no library of this program reads topologies: "
                            + VARIABLE
                            + "="
                            + named
                            + ", expected=the artefact io.softdpu:softdpu-topology-json at run"
                            + " time, or the variable unset");
        }
        return found.next().load(named);
    }
}
