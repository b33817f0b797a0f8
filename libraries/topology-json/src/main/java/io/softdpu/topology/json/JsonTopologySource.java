package io.softdpu.topology.json;

import io.softdpu.core.device.Topology;
import io.softdpu.core.device.TopologySource;

/** Source of the topology that the environment names: a JSON file or a bundled topology. */
public final class JsonTopologySource implements TopologySource {
    /** For ServiceLoader. */
    public JsonTopologySource() {}

    @Override
    public Topology load(String fileOrName) {
        return TopologyJson.load("variable=SOFTDPU_TOPOLOGY", fileOrName);
    }
}
