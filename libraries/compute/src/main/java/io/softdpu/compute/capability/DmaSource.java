package io.softdpu.compute.capability;

import io.softdpu.compute.DmaCapabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/** Source of the capabilities of DMA: contexts, task and limits. */
public final class DmaSource implements CapabilitySource {
    /** For ServiceLoader. */
    public DmaSource() {}

    @Override
    public String library() {
        return "dma";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(
                DmaCapabilities.TASKS_LIMIT,
                DmaCapabilities.BUFFER_SIZE_LIMIT,
                DmaCapabilities.BUFFER_LIST_LENGTH_LIMIT);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        DmaCapabilities dma = DmaCapabilities.of(device);
        return List.of(
                Capability.support("task_memcpy", dma.isMemcpySupported()),
                Capability.limit(DmaCapabilities.TASKS_LIMIT, dma.maxTasks()),
                Capability.limit(DmaCapabilities.BUFFER_SIZE_LIMIT, dma.maxBufferBytes()),
                Capability.limit(
                        DmaCapabilities.BUFFER_LIST_LENGTH_LIMIT, dma.maxBufferListLength()));
    }
}
