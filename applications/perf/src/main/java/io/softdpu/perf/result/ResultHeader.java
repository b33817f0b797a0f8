package io.softdpu.perf.result;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/**
 * Origin of a result, for its JSON: the program, the moment and the machine.
 *
 * @param version of softdpu
 * @param date begin of the measurement
 * @param machine the machine that measured
 */
public record ResultHeader(String version, Instant date, MachineInfo machine) {
    /** Key of the object in each result. */
    public static final String KEY = "softdpu";

    /** The origin of a measurement that begins now on this machine. */
    public static ResultHeader now(String version) {
        return new ResultHeader(
                version, Instant.now().truncatedTo(ChronoUnit.SECONDS), MachineInfo.here());
    }

    /**
     * The object under {@link #KEY}.
     *
     * @param options of the measurement
     * @param units the unit of each key that has one
     */
    public ObjectNode toJson(ObjectNode options, Map<String, String> units) {
        ObjectNode node =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("version", version)
                        .put("date", date.toString());
        node.putObject("machine")
                .put("processors", machine.processors())
                .put("processor_model", machine.processorModel())
                .put("architecture", machine.architecture())
                .put("kernel", machine.kernel())
                .put("jdk", machine.jdk());
        node.set("options", options);
        ObjectNode unitsNode = node.putObject("units");
        units.forEach(unitsNode::put);
        return node;
    }
}
