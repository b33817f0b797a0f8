package io.softdpu.perf.result;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.text.Figures;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** The fields of a JSON object of a result: a missing value is null, a figure has four digits. */
public final class JsonFields {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final ObjectNode node = NODES.objectNode();

    /**
     * Adds a field.
     *
     * @param value a text, a truth value, a whole number or a figure; the fields of an object, or a
     *     list of such values; null or an empty figure for a missing one
     * @throws IllegalArgumentException for any other value
     */
    public JsonFields put(String key, @Nullable Object value) {
        node.set(key, json(value));
        return this;
    }

    private static JsonNode json(@Nullable Object value) {
        return switch (value) {
            case null -> NODES.nullNode();
            case String text -> NODES.textNode(text);
            case Boolean truth -> NODES.booleanNode(truth);
            case Integer number -> NODES.numberNode(number.intValue());
            case Long number -> NODES.numberNode(number.longValue());
            case Double figure -> NODES.numberNode(Figures.rounded(figure));
            case OptionalDouble figure ->
                    figure.isEmpty() ? NODES.nullNode() : json(figure.getAsDouble());
            case JsonFields fields -> fields.node;
            case List<?> values -> {
                ArrayNode array = NODES.arrayNode();
                values.forEach(each -> array.add(json(each)));
                yield array;
            }
            default ->
                    throw new IllegalArgumentException(
                            "value has no form in JSON: class=" + value.getClass());
        };
    }

    /** The object, to which later fields are added as well. */
    public ObjectNode node() {
        return node;
    }
}
