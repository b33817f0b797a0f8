package io.softdpu.block.capability;

import io.softdpu.block.BlockCapabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/** Source of the capabilities of contexts of block devices. */
public final class BlockSource implements CapabilitySource {
    /** For ServiceLoader. */
    public BlockSource() {}

    @Override
    public String library() {
        return "block";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(BlockCapabilities.TASKS_LIMIT);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        BlockCapabilities block = BlockCapabilities.of(device);
        return List.of(Capability.limit(BlockCapabilities.TASKS_LIMIT, block.maxTasks()));
    }
}
