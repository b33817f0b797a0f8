package io.softdpu.topology.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a topology in the format of {@link TopologyReader}; equal functions give equal text. */
final class TopologyWriter {
    private static final DefaultIndenter INDENTER = new DefaultIndenter("  ", "\n");

    private TopologyWriter() {}

    static String write(Topology topology) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.setPrettyPrinter(
                    new DefaultPrettyPrinter()
                            .withObjectIndenter(INDENTER)
                            .withArrayIndenter(INDENTER));
            json.writeStartObject();
            json.writeNumberField(TopologyReader.VERSION, TopologyReader.SUPPORTED_VERSION);
            json.writeStringField(TopologyReader.NAME, topology.name());
            json.writeArrayFieldStart(TopologyReader.FUNCTIONS);
            for (PciFunction function : topology.functions()) {
                write(json, function);
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // cannot occur: the text is in memory
        }
        return text + "\n";
    }

    private static void write(JsonGenerator json, PciFunction f) throws IOException {
        json.writeStartObject();
        text(json, FunctionField.SIDE, f.side().id());
        text(json, FunctionField.INTERFACE_NAME, f.interfaceName());
        text(json, FunctionField.IBDEV_NAME, f.ibdevName());
        text(json, FunctionField.FUNCTION_TYPE, f.type().name());
        text(json, FunctionField.PCI_ADDRESS, f.pciAddress().toString());
        text(json, FunctionField.PARENT, f.parent());
        text(json, FunctionField.REPRESENTOR, f.representor());
        text(json, FunctionField.IPV4, f.ipv4().getHostAddress());
        if (!f.ipv6().equals(PciFunction.linkLocalOf(f.macAddress()))) {
            text(json, FunctionField.IPV6, f.ipv6().getHostAddress());
        }
        text(json, FunctionField.MAC, f.macAddress());
        text(json, FunctionField.VUID, f.vuid());
        json.writeNumberField(
                FunctionField.ACTIVE_RATE_BITS_PER_SECOND.json(), f.activeRateBitsPerSecond());
        if (!f.profile().isEmpty()) {
            json.writeObjectFieldStart(FunctionField.LIMITS.json());
            for (Map.Entry<String, Long> limit : f.profile().entrySet()) {
                json.writeNumberField(limit.getKey(), limit.getValue());
            }
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    private static void text(JsonGenerator json, FunctionField field, @Nullable String value)
            throws IOException {
        if (value != null) {
            json.writeStringField(field.json(), value);
        }
    }
}
