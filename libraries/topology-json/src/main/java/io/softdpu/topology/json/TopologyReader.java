package io.softdpu.topology.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads one text, token by token, so that each error can name its line. Each function is checked
 * when it is read, relations between functions afterwards.
 */
final class TopologyReader {
    /** As for files with flags: comments may tell why a card is as it is. */
    private static final JsonFactory SYNTAX =
            JsonFactory.builder().enable(JsonReadFeature.ALLOW_JAVA_COMMENTS).build();

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
            this.json = SYNTAX.createParser(Text.withoutByteOrderMark(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // cannot occur: the text is in memory
        }
    }

    Topology read() {
        try (json) {
            String name = readDocument();
            checkAcrossFunctions();
            Topology.Builder builder = Topology.builder(name);
            functions.forEach(fields -> builder.add(fields.function()));
            return builder.build();
        } catch (JsonProcessingException e) {
            throw new SourceLocation(source, lineOf(e))
                    .error("not JSON", null, e.getOriginalMessage(), "JSON", e);
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
            requireFirst(seen, field, field);
            JsonToken value = json.nextToken();
            switch (field) {
                case VERSION -> {
                    expect(value, JsonToken.VALUE_NUMBER_INT, field, "the number 1");
                    if (!json.getText().equals(Integer.toString(SUPPORTED_VERSION))) {
                        throw here().error("unknown version", field, json.getText(), "1");
                    }
                }
                case NAME -> {
                    expect(value, JsonToken.VALUE_STRING, field, "a text");
                    name = json.getText();
                    if (name.isBlank() || name.length() > 64 || !ForeignText.isPrintable(name)) {
                        throw here().error(
                                        "bad value", field, name, "1 to 64 printable characters");
                    }
                }
                case FUNCTIONS -> {
                    expect(value, JsonToken.START_ARRAY, field, "an array of objects");
                    readFunctions();
                }
                default ->
                        throw here().error(
                                        "unknown field",
                                        field,
                                        "one of " + List.of(VERSION, NAME, FUNCTIONS));
            }
        }
        for (String required : List.of(VERSION, NAME, FUNCTIONS)) {
            if (!seen.containsKey(required)) {
                throw new SourceLocation(source, start)
                        .error("missing field", required, "a topology has this field");
            }
        }
        if (json.nextToken() != null) {
            throw here().error("something follows the topology", null, "the end of the file");
        }
        return String.valueOf(name);
    }

    private void readFunctions() throws IOException {
        JsonToken token = json.nextToken();
        while (token != JsonToken.END_ARRAY) {
            String path = FUNCTIONS + "[" + functions.size() + "]";
            expect(token, JsonToken.START_OBJECT, path, "an object");
            if (functions.size() == Topology.MAX_FUNCTIONS) {
                throw here().error("too many functions", path, "at most " + functions.size());
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
                                    here().error(
                                                    "unknown field",
                                                    fieldPath,
                                                    "one of " + FunctionField.names()));
            requireFirst(seen, name, fieldPath);
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
            requireFirst(seen, name, fieldPath);
            long least = Capabilities.leastValueOf(name);
            String expected = "a whole number from " + least;
            expect(json.nextToken(), JsonToken.VALUE_NUMBER_INT, fieldPath, expected);
            String text = json.getText();
            fields.limit(name, FunctionFields.number(here(), fieldPath, text, least, expected));
        }
    }

    /**
     * Rejects unknown limits of loaded libraries, and of libraries whose names are almost the same;
     * limits of other libraries are accepted.
     */
    private void requireKnown(String limit, String path) {
        boolean accepted;
        try {
            accepted = Capabilities.acceptsLimit(limit);
        } catch (DpuException e) {
            throw here().error(
                            "malformed limit",
                            path,
                            null,
                            "a library and its limit such as comch.max_clients, of "
                                    + DeviceLimit.ID_FORM,
                            e);
        }
        if (!accepted) {
            throw here().error("unknown limit", path, Capabilities.acceptedInsteadOf(limit));
        }
    }

    private void checkAcrossFunctions() {
        Map<String, Integer> taken = new HashMap<>();
        Map<String, PciFunction> ports = new HashMap<>();
        for (FunctionFields fields : functions) {
            PciFunction f = fields.function();
            String side = f.side().id() + " ";
            requireUnique(taken, fields, FunctionField.INTERFACE_NAME, side + f.interfaceName());
            requireUnique(taken, fields, FunctionField.IBDEV_NAME, side + f.ibdevName());
            requireUnique(taken, fields, FunctionField.VUID, f.vuid());
            if (f.type() != FunctionType.SF) {
                requireUnique(
                        taken, fields, FunctionField.PCI_ADDRESS, side + f.pciAddress().longForm());
            }
            if (f.representor() != null) {
                requireUnique(taken, fields, FunctionField.REPRESENTOR, f.representor());
            }
            if (f.side() == Side.DPU && f.type() == FunctionType.PF) {
                ports.put(f.interfaceName(), f);
            }
        }
        for (FunctionFields fields : functions) {
            @Nullable String parent = fields.function().parent();
            if (parent != null && !ports.containsKey(parent)) {
                throw fields.location(FunctionField.PARENT)
                        .error(
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

    private static void requireUnique(
            Map<String, Integer> taken, FunctionFields fields, FunctionField field, String what) {
        SourceLocation location = fields.location(field);
        @Nullable Integer first = taken.putIfAbsent(field + " " + what, location.line());
        if (first != null) {
            throw location.error(
                    "occurs twice",
                    fields.path(field),
                    fields.text(field),
                    "another one, line " + first + " has it");
        }
    }

    private void requireFirst(Map<String, Integer> seen, String name, String path) {
        @Nullable Integer first = seen.putIfAbsent(name, line());
        if (first != null) {
            throw here().error("field occurs twice", path, "it once, line " + first + " has it");
        }
    }

    private void expect(
            @Nullable JsonToken found, JsonToken expected, String path, String description)
            throws IOException {
        if (found != expected) {
            throw here().error(
                            "wrong type",
                            path,
                            found == null ? "the end of the file" : json.getText(),
                            description);
        }
    }

    /** Line of an exception; the parser's current line if the exception has no location. */
    private int lineOf(JsonProcessingException e) {
        @Nullable JsonLocation place = e.getLocation();
        return Math.max(1, place == null ? json.currentLocation().getLineNr() : place.getLineNr());
    }

    private int line() {
        return json.currentTokenLocation().getLineNr();
    }

    private SourceLocation here() {
        return new SourceLocation(source, line());
    }

    /**
     * Location in a file, which creates the exceptions that name it. Field and value come from the
     * file and are untrusted; the source is the user's name for the file.
     */
    record SourceLocation(String source, int line) {
        DpuException error(String reason, @Nullable String field, String expected) {
            return error(reason, field, null, expected);
        }

        DpuException error(
                String reason, @Nullable String field, @Nullable String value, String expected) {
            return error(reason, field, value, expected, null);
        }

        DpuException error(
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
