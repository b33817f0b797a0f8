package io.softdpu.topology.json;

import com.fasterxml.jackson.core.JsonToken;
import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Fields of a function in a topology file, in the order in which they are written. */
enum FunctionField {
    SIDE(true, JsonToken.VALUE_STRING, "one of " + sides()),
    INTERFACE_NAME(true, JsonToken.VALUE_STRING, name("p0")),
    IBDEV_NAME(true, JsonToken.VALUE_STRING, name("mlx5_0")),
    FUNCTION_TYPE(true, JsonToken.VALUE_STRING, "one of [PF, VF, SF]"),
    PCI_ADDRESS(true, JsonToken.VALUE_STRING, "a PCI address such as 0b:00.0 or 0000:0b:00.0"),
    PARENT(false, JsonToken.VALUE_STRING, name("p0")),
    REPRESENTOR(false, JsonToken.VALUE_STRING, name("hpf0")),
    IPV4(true, JsonToken.VALUE_STRING, "an IPv4 address such as 127.11.0.1"),
    IPV6(false, JsonToken.VALUE_STRING, "an IPv6 address such as fe80::53:44ff:fe0b:1"),
    MAC(true, JsonToken.VALUE_STRING, "a MAC address such as 02:53:44:0b:00:01"),
    VUID(true, JsonToken.VALUE_STRING, name("SDPU-dpu-p0")),
    ACTIVE_RATE_BITS_PER_SECOND(true, JsonToken.VALUE_NUMBER_INT, "a whole number from 1"),
    LIMITS(false, JsonToken.START_OBJECT, "an object of limits such as comch.max_clients");

    private final boolean required;
    private final JsonToken token;
    private final String expected;

    FunctionField(boolean required, JsonToken token, String expected) {
        this.required = required;
        this.token = token;
        this.expected = expected;
    }

    /** The field with this name. */
    static Optional<FunctionField> of(String name) {
        return Arrays.stream(values()).filter(field -> field.json().equals(name)).findFirst();
    }

    /** All names. */
    static List<String> names() {
        return Arrays.stream(values()).map(FunctionField::json).toList();
    }

    /** The name in a file. */
    String json() {
        return name().toLowerCase(Locale.ROOT);
    }

    boolean required() {
        return required;
    }

    JsonToken token() {
        return token;
    }

    /** Description of a legal value, for error messages. */
    String expected() {
        return expected;
    }

    private static String name(String example) {
        return "a name such as " + example + ", of " + PciFunction.NAME_FORM;
    }

    private static List<String> sides() {
        return Arrays.stream(Side.values()).map(Side::id).toList();
    }
}
