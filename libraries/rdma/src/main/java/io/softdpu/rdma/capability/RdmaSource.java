package io.softdpu.rdma.capability;

import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import java.util.ArrayList;
import java.util.List;

/**
 * Capability source of RDMA instances: support of instances and of each task type and transport,
 * limits.
 */
public final class RdmaSource implements CapabilitySource {
    /** For ServiceLoader. */
    public RdmaSource() {}

    @Override
    public String library() {
        return "rdma";
    }

    @Override
    public List<DeviceLimit> limits() {
        List<DeviceLimit> all =
                new ArrayList<>(
                        List.of(
                                RdmaCapabilities.MESSAGE_SIZE_LIMIT,
                                RdmaCapabilities.SEND_QUEUE_SIZE_LIMIT,
                                RdmaCapabilities.RECEIVE_QUEUE_SIZE_LIMIT,
                                RdmaCapabilities.SEND_QUEUE_ELEMENTS_LIMIT,
                                RdmaCapabilities.SEND_BUFFER_LIST_LENGTH_LIMIT,
                                RdmaCapabilities.RECEIVE_BUFFER_LIST_LENGTH_LIMIT,
                                RdmaCapabilities.CONNECTIONS_LIMIT,
                                RdmaCapabilities.PATH_MTU_LIMIT));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(RdmaCapabilities.tasksLimit(type));
        }
        return List.copyOf(all);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        return RdmaCapabilities.of(device).all();
    }
}
