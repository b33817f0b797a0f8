package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.regex.Pattern;

/**
 * Limit of a library that a topology can lower for a device, declared by the library ({@link
 * io.softdpu.core.capability.CapabilitySource#limits()}).
 *
 * <p>The range of a value is {@link #least()} to the largest {@code long}; one above the library's
 * own has no effect. Without the limit in the topology a device has the library's own. The library
 * refuses values beyond it, and its capability of the same name has the effective value, which may
 * depend on the device. Immutable; any thread.
 *
 * @param library the name of the library, for example {@code comch}
 * @param capability the capability with the effective value, for example {@code max_clients}
 * @param bytes whether the unit is bytes; otherwise a count
 * @param optional whether 0 is a value, too: the device then does not support what is limited, and
 *     the library refuses to create it with NOT_SUPPORTED
 */
public record DeviceLimit(String library, String capability, boolean bytes, boolean optional) {
    /** The form of an {@linkplain #id() id}: library, full stop, capability. */
    public static final String ID_FORM = "[a-z][a-z0-9-]{0,31}\\.[a-z][a-z0-9_]{0,63}";

    private static final Pattern ID = Pattern.compile(ID_FORM);

    /**
     * Checks the names.
     *
     * @throws DpuException INVALID_VALUE if they do not make an id
     */
    public DeviceLimit {
        requireId(
                Arguments.notNull(library, "library")
                        + "."
                        + Arguments.notNull(capability, "capability"));
    }

    /** A limit of a count, from 1. */
    public static DeviceLimit ofCount(String library, String capability) {
        return new DeviceLimit(library, capability, false, false);
    }

    /** A limit of a count, from 0, which means that the device does not support what is counted. */
    public static DeviceLimit ofOptionalCount(String library, String capability) {
        return new DeviceLimit(library, capability, false, true);
    }

    /** A limit in bytes, from 1. */
    public static DeviceLimit ofBytes(String library, String capability) {
        return new DeviceLimit(library, capability, true, false);
    }

    /**
     * The library's part of an id.
     *
     * @throws DpuException INVALID_VALUE if the text does not have the form of an id
     */
    public static String libraryOf(String id) {
        requireId(Arguments.notNull(id, "id"));
        return id.substring(0, id.indexOf('.'));
    }

    /** The least value that a topology may have for it: 0 if it is optional, otherwise 1. */
    public long least() {
        return optional ? 0 : 1;
    }

    /** The name in a topology: library and capability, for example {@code comch.max_clients}. */
    public String id() {
        return library + "." + capability;
    }

    /** {@link #id()}. */
    @Override
    public String toString() {
        return id();
    }

    static void requireId(String id) {
        if (!ID.matcher(id).matches()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "malformed limit: limit=%s, expected=a library and its limit such as"
                                    + " comch.max_clients, of %s",
                            ForeignText.escapeAndCut(id), ID_FORM));
        }
    }
}
