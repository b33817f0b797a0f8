package io.softdpu.core.capability;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.spi.Arguments;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/**
 * What one library can do on one device, by names; a value. Any thread.
 *
 * <pre>
 * Capabilities comch = Capabilities.of(machine.findDevice("p0"), "comch");
 * if (comch.isSupported("server")) {
 *     long most = comch.limit("max_message_size");
 * }
 * </pre>
 *
 * <p>Everything is asked in the same form: a device goes in, a result or a status comes out.
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
     * What a library can do on a device; the device need not be open.
     *
     * @throws DpuException NOT_FOUND if this program has no such library, naming those that it has
     */
    public static Capabilities of(DeviceInfo device, String library) {
        Arguments.notNull(device, "device");
        Arguments.notNull(library, "library");
        for (CapabilitySource source : SOURCES) {
            if (source.library().equals(library)) {
                return new Capabilities(device, source);
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                "no such library: library=" + library + ", available=" + libraries());
    }

    /** What each library of {@link #libraries()} can do on a device. */
    public static List<Capabilities> of(DeviceInfo device) {
        Arguments.notNull(device, "device");
        return SOURCES.stream().map(source -> new Capabilities(device, source)).toList();
    }

    /** The device. */
    public DeviceInfo device() {
        return device;
    }

    /** The name of the library. */
    public String library() {
        return library;
    }

    /** All that the library says of itself, in its own order. */
    public List<Capability> all() {
        return all;
    }

    /**
     * One of them.
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
                "no such capability: capability=%s, library=%s, available=%s"
                        .formatted(name, library, all.stream().map(Capability::name).toList()));
    }

    /**
     * Whether something is supported; of a limit, whether it is above 0.
     *
     * @throws DpuException NOT_FOUND if the library has no such capability
     */
    public boolean isSupported(String name) {
        return get(name).isSupported();
    }

    /**
     * How much of something there is.
     *
     * @throws DpuException NOT_FOUND if the library has no such capability; INVALID_VALUE if it is
     *     a yes or a no; NOT_SUPPORTED if the device has none of it
     */
    public long limit(String name) {
        Capability capability = get(name);
        if (capability.unit() == Capability.Unit.SUPPORT) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "capability is no limit: capability=%s, library=%s".formatted(name, library));
        }
        if (!capability.isSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "device does not support it: capability=%s, library=%s, device=%s"
                            .formatted(name, library, device));
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
        return List.copyOf(found);
    }
}
