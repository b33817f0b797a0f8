package io.softdpu.core.capability;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceLimit;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * One thing that a library says of itself on a device: that it can do something, or how much of it.
 *
 * @param name lower case with underscores, unique in its library, for example {@code
 *     max_message_size}
 * @param unit what the value counts
 * @param value of {@link Unit#SUPPORT} 1 for yes and 0 for no; of the others the limit, 0 where the
 *     device does not support what it is a limit of
 */
public record Capability(String name, Unit unit, long value) {
    /** What the value of a capability counts. */
    public enum Unit {
        /** Nothing: it is a yes or a no. */
        SUPPORT,
        /** Tasks, clients, elements and the like. */
        COUNT,
        /** Bytes. */
        BYTES;

        /** The word for it in lower case. */
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
                    "not a capability: name=%s, unit=%s, value=%d, expected=a name of %s, and 0 or 1, or a limit from 0"
                            .formatted(name, unit, value, NAME));
        }
    }

    /** Whether something is supported. */
    public static Capability support(String name, boolean supported) {
        return new Capability(name, Unit.SUPPORT, supported ? 1 : 0);
    }

    /** The most of something that a topology cannot limit. */
    public static Capability limit(String name, Unit unit, long value) {
        return new Capability(name, unit, value);
    }

    /** The most of something that a topology can limit; it has the name and the unit of that. */
    public static Capability limit(DeviceLimit limit, long value) {
        return new Capability(
                Arguments.notNull(limit, "limit").capability(),
                limit.bytes() ? Unit.BYTES : Unit.COUNT,
                value);
    }

    /** Whether there is any of it: a yes, or a limit above 0. */
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
