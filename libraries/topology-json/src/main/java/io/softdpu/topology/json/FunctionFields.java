package io.softdpu.topology.json;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import io.softdpu.topology.json.TopologyReader.SourceLocation;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Fields of one function as read from a file, with their lines. */
final class FunctionFields {
    private final String source;
    private final String path;
    private final int line;
    private final Map<FunctionField, Value> values = new EnumMap<>(FunctionField.class);
    private final Map<String, Long> limits = new TreeMap<>();
    private @Nullable PciFunction function;

    private record Value(String text, int line) {}

    FunctionFields(String source, String path, int line) {
        this.source = source;
        this.path = path;
        this.line = line;
    }

    void put(FunctionField field, String text, int lineOfField) {
        values.put(field, new Value(text, lineOfField));
    }

    void limit(String id, long maximum) {
        limits.put(id, maximum);
    }

    /** Creates the function, after all fields have been read. */
    void complete() {
        for (FunctionField field : FunctionField.values()) {
            if (field.required() && !values.containsKey(field)) {
                throw new SourceLocation(source, line)
                        .error("missing field", path(field), field.expected());
            }
        }
        requireBothOrNone();
        PciFunctionBuilder builder =
                PciFunction.builder(
                        converted(FunctionField.SIDE, FunctionFields::side),
                        converted(FunctionField.INTERFACE_NAME, FunctionFields::name));
        builder.ibdevName(converted(FunctionField.IBDEV_NAME, FunctionFields::name))
                .type(converted(FunctionField.FUNCTION_TYPE, FunctionType::valueOf))
                .parent(optional(FunctionField.PARENT, FunctionFields::name))
                .representor(optional(FunctionField.REPRESENTOR, FunctionFields::name))
                .vuid(converted(FunctionField.VUID, FunctionFields::name))
                .activeRate(rate());
        converted(FunctionField.PCI_ADDRESS, builder::pciAddress);
        converted(FunctionField.IPV4, builder::ipv4);
        optional(FunctionField.IPV6, builder::ipv6);
        builder.macAddress(converted(FunctionField.MAC, FunctionFields::mac));
        limits.forEach(builder::limit);
        function = builder.build();
    }

    PciFunction function() {
        return Objects.requireNonNull(function, "completed");
    }

    /** Location of a field; that of the function if the field is missing. */
    SourceLocation location(FunctionField field) {
        @Nullable Value value = values.get(field);
        return new SourceLocation(source, value == null ? line : value.line);
    }

    String path(FunctionField field) {
        return path + "." + field.json();
    }

    @Nullable String text(FunctionField field) {
        @Nullable Value value = values.get(field);
        return value == null ? null : value.text;
    }

    /**
     * Parses a whole number; throws the location's error for any other text, and for a number that
     * is too low.
     *
     * @param expected the range, for the message
     */
    static long number(
            SourceLocation location, String path, String text, long least, String expected) {
        try {
            long number = Text.parseLong(text);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw location.error("number is too large", path, text, expected, e);
        }
        throw location.error("bad value", path, text, expected);
    }

    private void requireBothOrNone() {
        boolean parent = values.containsKey(FunctionField.PARENT);
        if (parent != values.containsKey(FunctionField.REPRESENTOR)) {
            FunctionField missing = parent ? FunctionField.REPRESENTOR : FunctionField.PARENT;
            throw new SourceLocation(source, line)
                    .error(
                            "missing field",
                            path(missing),
                            "parent and representor, or neither of them");
        }
    }

    private long rate() {
        FunctionField field = FunctionField.ACTIVE_RATE_BITS_PER_SECOND;
        return number(
                location(field),
                path(field),
                Objects.requireNonNull(text(field), "required"),
                1,
                field.expected());
    }

    private <T> T converted(FunctionField field, Function<String, T> conversion) {
        return Objects.requireNonNull(optional(field, conversion), "required");
    }

    private <T> @Nullable T optional(FunctionField field, Function<String, T> conversion) {
        @Nullable String text = text(field);
        if (text == null) {
            return null;
        }
        if (text.length() > ForeignText.MAX_CHARACTERS) {
            // No legal value is that long, and the cause would contain all of it.
            throw location(field).error("bad value", path(field), text, field.expected());
        }
        try {
            return conversion.apply(text);
        } catch (DpuException | IllegalArgumentException e) {
            throw location(field).error("bad value", path(field), text, field.expected(), e);
        }
    }

    private static Side side(String text) {
        for (Side side : Side.values()) {
            if (side.id().equals(text)) {
                return side;
            }
        }
        throw new IllegalArgumentException(text);
    }

    private static String name(String text) {
        if (!PciFunction.isName(text)) {
            throw new IllegalArgumentException(text);
        }
        return text;
    }

    private static String mac(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        PciFunction.linkLocalOf(lower); // throws for an illegal address
        return lower;
    }
}
