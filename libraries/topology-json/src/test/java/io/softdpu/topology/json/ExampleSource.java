package io.softdpu.topology.json;

import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/**
 * Capability source of the library {@code example} of these tests, in which only core is present.
 */
public final class ExampleSource implements CapabilitySource {
    static final DeviceLimit THINGS = DeviceLimit.ofCount("example", "max_things");
    static final DeviceLimit EXTRAS = DeviceLimit.ofOptionalCount("example", "max_extras");

    @Override
    public String library() {
        return "example";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(THINGS, EXTRAS);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        return List.of(
                Capability.limit(THINGS, device.function().lowered(THINGS, 8)),
                Capability.limit(EXTRAS, device.function().lowered(EXTRAS, 2)));
    }
}
