package io.softdpu.core.capability;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/** Capability source of a library above core: {@code example}, found by ServiceLoader. */
public final class ExampleSource implements CapabilitySource {
    static final DeviceLimit THINGS = DeviceLimit.ofCount("example", "max_things");
    static final DeviceLimit SIZE = DeviceLimit.ofBytes("example", "max_size");
    static final DeviceLimit EXTRAS = DeviceLimit.ofOptionalCount("example", "max_extras");

    @Override
    public String library() {
        return "example";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(THINGS, SIZE, EXTRAS);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        return List.of(
                Capability.limit(THINGS, device.function().lowered(THINGS, 8)),
                Capability.limit(SIZE, device.function().lowered(SIZE, 4096)),
                Capability.limit(EXTRAS, device.function().lowered(EXTRAS, 2)));
    }
}
