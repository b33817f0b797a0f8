package io.softdpu.topology.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.ForeignText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads one text, token by token, so that each complaint can name its line. What is wrong with a
 * function by itself is found where it is read, what is wrong between two functions afterwards.
 */
final class TopologyReader {
    static final String VERSION = "softdpu_topology";
    static final int SUPPORTED_VERSION = 1;
    static final String NAME = "name";
    static final String FUNCTIONS = "functions";

    private final String source;
    private final JsonParser json;
    private final List<FunctionFields> functions = new ArrayList<>();

    TopologyReader(String source, String text) {
        this.source = source;
        try {
            this.json = new JsonFactory().createParser(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a text in memory
        }
    }

    Topology read() {
        try (json) {
            String name = readDocument();
            checkTogether();
            Topology.Builder builder = Topology.builder(name);
            functions.forEach(fields -> builder.add(fields.function()));
            return builder.build();
        } catch (JsonProcessingException e) {
            throw new Refusal(source, lineOf(e))
                    .because("not JSON", null, e.getOriginalMessage(), "JSON", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String readDocument() throws IOException {
        expect(json.nextToken(), JsonToken.START_OBJECT, "$", "an object");
        int start = line();
        Map<String, Integer> seen = new HashMap<>();
        @Nullable String name = null;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            once(seen, field, field);
            JsonToken value = json.nextToken();
            switch (field) {
                case VERSION -> {
                    expect(value, JsonToken.VALUE_NUMBER_INT, field, "the number 1");
                    if (!json.getText().equals(Integer.toString(SUPPORTED_VERSION))) {
                        throw here().because("unknown version", field, json.getText(), "1");
                    }
                }
                case NAME -> {
                    expect(value, JsonToken.VALUE_STRING, field, "a text");
                    name = json.getText();
                    if (name.isBlank() || name.length() > 64 || !ForeignText.isPrintable(name)) {
                        throw here().because(
                                        "bad value", field, name, "1 to 64 printable characters");
                    }
                }
                case FUNCTIONS -> {
                    expect(value, JsonToken.START_ARRAY, field, "an array of objects");
                    readFunctions();
                }
                default ->
                        throw here().because(
                                        "unknown field",
                                        field,
                                        "one of " + List.of(VERSION, NAME, FUNCTIONS));
            }
        }
        for (String required : List.of(VERSION, NAME, FUNCTIONS)) {
            if (!seen.containsKey(required)) {
                throw new Refusal(source, start)
                        .because("missing field", required, "a topology has this field");
            }
        }
        if (json.nextToken() != null) {
            throw here().because("something follows the topology", null, "the end of the file");
        }
        return String.valueOf(name);
    }

    private void readFunctions() throws IOException {
        JsonToken token = json.nextToken();
        while (token != JsonToken.END_ARRAY) {
            String path = FUNCTIONS + "[" + functions.size() + "]";
            expect(token, JsonToken.START_OBJECT, path, "an object");
            if (functions.size() == Topology.MAX_FUNCTIONS) {
                throw here().because("too many functions", path, "at most " + functions.size());
            }
            functions.add(readFunction(path));
            token = json.nextToken();
        }
    }

    private FunctionFields readFunction(String path) throws IOException {
        FunctionFields fields = new FunctionFields(source, path, line());
        Map<String, Integer> seen = new HashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            String fieldPath = path + "." + name;
            FunctionField field =
                    FunctionField.of(name)
                            .orElseThrow(() ->
                                    here().because(
                                                    "unknown field",
                                                    fieldPath,
                                                    "one of " + FunctionField.names()));
            once(seen, name, fieldPath);
            JsonToken value = json.nextToken();
            if (field == FunctionField.LIMITS) {
                expect(value, JsonToken.START_OBJECT, fieldPath, field.expected());
                readLimits(fields, fieldPath);
            } else {
                expect(value, field.token(), fieldPath, field.expected());
                fields.put(field, json.getText(), line());
            }
        }
        fields.complete();
        return fields;
    }

    private void readLimits(FunctionFields fields, String path) throws IOException {
        Map<String, Integer> seen = new HashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            String fieldPath = path + "." + name;
            requireKnown(name, fieldPath);
            once(seen, name, fieldPath);
            String expected = "a whole number from 1";
            expect(json.nextToken(), JsonToken.VALUE_NUMBER_INT, fieldPath, expected);
            fields.limit(name, number(fieldPath, json.getText(), expected, line()));
        }
    }

    /** Of libraries that this program does not have, it cannot tell; they keep their limits. */
    private void requireKnown(String limit, String path) {
        boolean accepted;
        try {
            accepted = Capabilities.acceptsLimit(limit);
        } catch (DpuException e) {
            throw here().because(
                            "malformed limit",
                            path,
                            null,
                            "a library and its limit such as comch.max_clients, of "
                                    + DeviceLimit.ID_FORM,
                            e);
        }
        if (!accepted) {
            String library = DeviceLimit.libraryOf(limit);
            throw here().because(
                            "unknown limit",
                            path,
                            "a limit of " + library + ", one of " + Capabilities.limitsOf(library));
        }
    }

    private long number(String path, String text, String expected, int line) {
        return FunctionFields.number(new Refusal(source, line), path, text, expected);
    }

    private void checkTogether() {
        Map<String, Integer> taken = new HashMap<>();
        Map<String, PciFunction> ports = new HashMap<>();
        for (FunctionFields fields : functions) {
            PciFunction f = fields.function();
            String side = f.side().id() + " ";
            claim(taken, fields, FunctionField.INTERFACE_NAME, side + f.interfaceName());
            claim(taken, fields, FunctionField.IBDEV_NAME, side + f.ibdevName());
            claim(taken, fields, FunctionField.VUID, f.vuid());
            if (f.type() != FunctionType.SF) {
                claim(taken, fields, FunctionField.PCI_ADDRESS, side + f.pciAddress().longForm());
            }
            if (f.representor() != null) {
                claim(taken, fields, FunctionField.REPRESENTOR, f.representor());
            }
            if (f.side() == Side.DPU && f.type() == FunctionType.PF) {
                ports.put(f.interfaceName(), f);
            }
        }
        for (FunctionFields fields : functions) {
            @Nullable String parent = fields.function().parent();
            if (parent != null && !ports.containsKey(parent)) {
                throw fields.refusal(FunctionField.PARENT)
                        .because(
                                "unknown parent",
                                fields.path(FunctionField.PARENT),
                                parent,
                                "a physical function of the DPU, one of "
                                        + ForeignText.escapeAndCut(
                                                ports.keySet().stream()
                                                        .sorted()
                                                        .toList()
                                                        .toString()));
            }
        }
    }

    private static void claim(
            Map<String, Integer> taken, FunctionFields fields, FunctionField field, String what) {
        Refusal refusal = fields.refusal(field);
        @Nullable Integer first = taken.putIfAbsent(field + " " + what, refusal.line());
        if (first != null) {
            throw refusal.because(
                    "occurs twice",
                    fields.path(field),
                    fields.text(field),
                    "another one, line " + first + " has it");
        }
    }

    private void once(Map<String, Integer> seen, String name, String path) {
        @Nullable Integer first = seen.putIfAbsent(name, line());
        if (first != null) {
            throw here().because("field occurs twice", path, "it once, line " + first + " has it");
        }
    }

    private void expect(
            @Nullable JsonToken found, JsonToken expected, String path, String description)
            throws IOException {
        if (found != expected) {
            throw here().because(
                            "wrong type",
                            path,
                            found == null ? "the end of the file" : json.getText(),
                            description);
        }
    }

    /** Some say where, some do not; the parser has come as far as that anyway. */
    private int lineOf(JsonProcessingException e) {
        @Nullable JsonLocation place = e.getLocation();
        return Math.max(1, place == null ? json.currentLocation().getLineNr() : place.getLineNr());
    }

    private int line() {
        return json.currentTokenLocation().getLineNr();
    }

    private Refusal here() {
        return new Refusal(source, line());
    }

    /**
     * Place of an error; makes the exception that names it. Field and value are the file's and may
     * be anything; the source is the user's.
     */
    record Refusal(String source, int line) {
        DpuException because(String reason, @Nullable String field, String expected) {
            return because(reason, field, null, expected);
        }

        DpuException because(
                String reason, @Nullable String field, @Nullable String value, String expected) {
            return because(reason, field, value, expected, null);
        }

        DpuException because(
                String reason,
                @Nullable String field,
                @Nullable String value,
                String expected,
                @Nullable Exception cause) {
            return new DpuException(
                    Status.BAD_CONFIG,
                    "topology refused: file="
                            + source
                            + ", line="
                            + line
                            + (field == null ? "" : ", field=" + ForeignText.escapeAndCut(field))
                            + ", reason="
                            + reason
                            + (value == null ? "" : ", value=" + ForeignText.escapeAndCut(value))
                            + ", expected="
                            + expected,
                    cause);
        }
    }
}
