/** Topologies as JSON files. */
module io.softdpu.topology.json {
    requires transitive io.softdpu.core;
    requires com.fasterxml.jackson.core;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.topology.json;

    provides io.softdpu.core.device.TopologySource with
            io.softdpu.topology.json.JsonTopologySource;
}
