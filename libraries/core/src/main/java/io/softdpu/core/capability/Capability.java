package io.softdpu.core.capability;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.linux.text.Text;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Capability of a library on a device: support of a feature, or a limit.
 *
 * @param name lower case with underscores, unique in its library, for example {@code
 *     max_message_size}
 * @param unit what the value counts
 * @param value for {@link Unit#SUPPORT} 1 or 0; otherwise the limit, 0 if the device does not
 *     support the feature
 */
public record Capability(String name, Unit unit, long value) {
    /** Unit of the value of a capability. */
    public enum Unit {
        /** None: supported or not. */
        SUPPORT,
        /** Tasks, clients, elements and the like. */
        COUNT,
        /** Bytes. */
        BYTES;

        /** The unit in lower case. */
        public String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,63}");

    /**
     * Checks the values.
     *
     * @throws DpuException INVALID_VALUE naming the value that is wrong
     */
    public Capability {
        Arguments.notNull(unit, "unit");
        boolean legal =
                NAME.matcher(Arguments.notNull(name, "name")).matches()
                        && value >= 0
                        && (unit != Unit.SUPPORT || value <= 1);
        if (!legal) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "not a capability: name=%s, unit=%s, value=%d, expected=a name of %s,"
                                    + " and 0 or 1, or a limit from 0",
                            name, unit, value, NAME));
        }
    }

    /** Support of a feature. */
    public static Capability support(String name, boolean supported) {
        return new Capability(name, Unit.SUPPORT, supported ? 1 : 0);
    }

    /** A limit that a topology cannot lower. */
    public static Capability limit(String name, Unit unit, long value) {
        return new Capability(name, unit, value);
    }

    /** A limit that a topology can lower, with its name and unit. */
    public static Capability limit(DeviceLimit limit, long value) {
        return new Capability(
                Arguments.notNull(limit, "limit").capability(),
                limit.bytes() ? Unit.BYTES : Unit.COUNT,
                value);
    }

    /** Whether the feature is supported, or the limit is above 0. */
    public boolean isSupported() {
        return value > 0;
    }

    /**
     * For example {@code max_message_size=4080 bytes}, {@code max_clients=512}, {@code server=no}.
     */
    @Override
    public String toString() {
        return name
                + "="
                + switch (unit) {
                    case SUPPORT -> isSupported() ? "yes" : "no";
                    case COUNT -> Long.toString(value);
                    case BYTES -> value + " bytes";
                };
    }
}
