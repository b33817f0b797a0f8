package io.softdpu.block;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;

/**
 * Capabilities of contexts of block devices on a device of the machine: every one has them. What a
 * block device supports is in its {@link io.softdpu.block.property.BlockProperties properties}.
 * Immutable; any thread.
 */
public final class BlockCapabilities {
    /** The limit that lowers {@link #maxTasks()}. */
    public static final DeviceLimit TASKS_LIMIT = DeviceLimit.ofCount("block", "max_tasks");

    private static final int MAX_TASKS = 1 << 16;

    private final int maxTasks;

    private BlockCapabilities(DeviceInfo device) {
        maxTasks = (int) device.function().lowered(TASKS_LIMIT, MAX_TASKS);
    }

    /** The capabilities on a device, which need not be open. */
    public static BlockCapabilities of(DeviceInfo device) {
        return new BlockCapabilities(Arguments.notNull(device, "device"));
    }

    /** Limit of tasks of each type in a context. */
    public int maxTasks() {
        return maxTasks;
    }
}
