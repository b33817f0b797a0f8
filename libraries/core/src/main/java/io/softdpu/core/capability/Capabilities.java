package io.softdpu.core.capability;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;

/**
 * Capabilities of one library on one device, by name. Immutable; any thread.
 *
 * <pre>
 * Capabilities comch = Capabilities.of(machine.findDevice("p0"), "comch");
 * if (comch.isSupported("server")) {
 *     long most = comch.limit("max_message_size");
 * }
 * </pre>
 *
 * <p>All queries have the same form: the argument is a device, the result a value or a status.
 */
public final class Capabilities {
    private static final List<CapabilitySource> SOURCES = load();

    private final DeviceInfo device;
    private final String library;
    private final List<Capability> all;

    private Capabilities(DeviceInfo device, CapabilitySource source) {
        this.device = device;
        this.library = source.library();
        this.all = List.copyOf(source.capabilities(device));
    }

    /** Names of the libraries that this program has, {@code core} first, then by name. */
    public static List<String> libraries() {
        return SOURCES.stream().map(CapabilitySource::library).toList();
    }

    /**
     * The capabilities of a library on a device; the device need not be open.
     *
     * @throws DpuException NOT_FOUND if this program has no such library; the message lists those
     *     that it has
     */
    public static Capabilities of(DeviceInfo device, String library) {
        Arguments.notNull(device, "device");
        return new Capabilities(device, source(Arguments.notNull(library, "library")));
    }

    /** The capabilities of each library of {@link #libraries()} on a device. */
    public static List<Capabilities> of(DeviceInfo device) {
        Arguments.notNull(device, "device");
        return SOURCES.stream().map(source -> new Capabilities(device, source)).toList();
    }

    /**
     * The limits of a library that a topology can lower, in the library's own order.
     *
     * @throws DpuException NOT_FOUND if this program has no such library, naming those that it has
     */
    public static List<DeviceLimit> limitsOf(String library) {
        return List.copyOf(source(Arguments.notNull(library, "library")).limits());
    }

    /**
     * Whether a topology may have a limit: its library declares it, or is none of {@link
     * #libraries()}, so that it cannot be checked. A library whose name is that of one of them with
     * a mistake ({@code comhc}) is taken for that one, which does not declare the limit.
     *
     * @param id the {@linkplain DeviceLimit#id() id} of the limit
     * @throws DpuException INVALID_VALUE if the id is malformed
     */
    public static boolean acceptsLimit(String id) {
        String library = DeviceLimit.libraryOf(id);
        return libraries().contains(library)
                ? limitsOf(library).stream().anyMatch(limit -> limit.id().equals(id))
                : misspeltAs(library).isEmpty();
    }

    /**
     * The limits that a topology may have instead of one for which {@link #acceptsLimit} is false,
     * for the end of a message: those of its library, or of the libraries whose names are almost
     * the same, and the one that was probably meant.
     *
     * @param id the {@linkplain DeviceLimit#id() id} of the limit
     * @throws DpuException INVALID_VALUE if the id is malformed
     */
    public static String acceptedInsteadOf(String id) {
        String library = DeviceLimit.libraryOf(id);
        List<String> meant = libraries().contains(library) ? List.of(library) : misspeltAs(library);
        List<String> ids =
                meant.stream().flatMap(one -> limitsOf(one).stream()).map(DeviceLimit::id).toList();
        if (ids.isEmpty()) {
            return "a limit of another library, " + library + " declares none";
        }
        List<String> nearest = Suggestions.of(id, ids).stream().limit(1).toList();
        return "a limit of "
                + String.join(" or ", meant)
                + ", one of "
                + ids
                + Suggestions.question(nearest);
    }

    /** The libraries with limits whose names are almost that of one that is not there. */
    private static List<String> misspeltAs(String library) {
        return libraries().stream()
                .filter(known -> Suggestions.isMisspelling(library, known))
                .filter(known -> !limitsOf(known).isEmpty())
                .toList();
    }

    /**
     * The least value that a topology may have for a limit, where {@link #acceptsLimit} is true: 0
     * if its library declares it as {@linkplain DeviceLimit#optional() optional}, or is none of
     * {@link #libraries()}, so that it cannot be checked; otherwise 1.
     *
     * @param id the {@linkplain DeviceLimit#id() id} of the limit
     * @throws DpuException INVALID_VALUE if the id is malformed
     */
    public static long leastValueOf(String id) {
        String library = DeviceLimit.libraryOf(id);
        if (!libraries().contains(library)) {
            return 0;
        }
        return limitsOf(library).stream()
                .filter(limit -> limit.id().equals(id))
                .mapToLong(DeviceLimit::least)
                .findFirst()
                .orElse(1);
    }

    /** The device. */
    public DeviceInfo device() {
        return device;
    }

    /** The name of the library. */
    public String library() {
        return library;
    }

    /** All capabilities, in the library's order. */
    public List<Capability> all() {
        return all;
    }

    /**
     * One capability.
     *
     * @throws DpuException NOT_FOUND if the library has none of this name, naming those that it has
     */
    public Capability get(String name) {
        Arguments.notNull(name, "name");
        for (Capability capability : all) {
            if (capability.name().equals(name)) {
                return capability;
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                Text.format(
                        "no such capability: capability=%s, library=%s, available=%s",
                        name, library, all.stream().map(Capability::name).toList()));
    }

    /**
     * Whether a capability is supported; for a limit, whether it is above 0.
     *
     * @throws DpuException NOT_FOUND if the library has no such capability
     */
    public boolean isSupported(String name) {
        return get(name).isSupported();
    }

    /**
     * The value of a limit.
     *
     * @throws DpuException NOT_FOUND if the library has no such capability; INVALID_VALUE if it is
     *     not a limit; NOT_SUPPORTED if the device does not support it
     */
    public long limit(String name) {
        Capability capability = get(name);
        if (capability.unit() == Capability.Unit.SUPPORT) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "capability is no limit: capability=%s, library=%s", name, library));
        }
        if (!capability.isSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support it: capability=%s, library=%s, device=%s",
                            name, library, device));
        }
        return capability.value();
    }

    /** The library, the device and all capabilities. */
    @Override
    public String toString() {
        return library + " on " + device + ": " + all;
    }

    private static List<CapabilitySource> load() {
        List<CapabilitySource> found = new ArrayList<>();
        ServiceLoader.load(CapabilitySource.class, CapabilitySource.class.getClassLoader())
                .forEach(found::add);
        found.sort(
                Comparator.comparing((CapabilitySource s) -> !s.library().equals(CoreSource.NAME))
                        .thenComparing(CapabilitySource::library));
        found.forEach(Capabilities::requireConsistent);
        return List.copyOf(found);
    }

    /**
     * Checks the ids of the limits: one with another library's name would be refused in each
     * topology.
     */
    static void requireConsistent(CapabilitySource source) {
        Set<String> seen = new HashSet<>();
        for (DeviceLimit limit : source.limits()) {
            if (!limit.library().equals(source.library()) || !seen.add(limit.capability())) {
                throw new IllegalStateException(
                        Text.format(
                                "library declares limits wrongly: limit=%s, source=%s, library=%s,"
                                        + " expected=its own, each once",
                                limit, source.getClass().getName(), source.library()));
            }
        }
    }

    private static CapabilitySource source(String library) {
        for (CapabilitySource source : SOURCES) {
            if (source.library().equals(library)) {
                return source;
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                Text.format(
                        "no such library: library=%s, available=%s, expected=its artefact,"
                                + " io.softdpu:softdpu-%s for one of this project, at run time",
                        library, libraries(), library));
    }
}
