package io.softdpu.rdma.capability;

import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Capability source of RDMA instances: support of instances and of each task type, limits. */
public final class RdmaSource implements CapabilitySource {
    /** For ServiceLoader. */
    public RdmaSource() {}

    @Override
    public String library() {
        return "rdma";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(
                RdmaCapabilities.MESSAGE_SIZE_LIMIT,
                RdmaCapabilities.SEND_QUEUE_SIZE_LIMIT,
                RdmaCapabilities.CONNECTIONS_LIMIT,
                RdmaCapabilities.RECEIVE_TASKS_LIMIT);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        RdmaCapabilities rdma = RdmaCapabilities.of(device);
        List<Capability> all = new ArrayList<>();
        all.add(Capability.support("instance", rdma.isSupported()));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(
                    Capability.support(
                            "task_" + type.name().toLowerCase(Locale.ROOT),
                            rdma.isSupported(type)));
        }
        all.add(Capability.limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, rdma.maxMessageBytes()));
        all.add(Capability.limit(RdmaCapabilities.SEND_QUEUE_SIZE_LIMIT, rdma.maxSendQueueSize()));
        all.add(Capability.limit(RdmaCapabilities.CONNECTIONS_LIMIT, rdma.maxConnections()));
        all.add(Capability.limit(RdmaCapabilities.RECEIVE_TASKS_LIMIT, rdma.maxReceiveTasks()));
        all.add(
                Capability.limit(
                        "max_send_buffer_list_length", Unit.COUNT, rdma.maxSendBufferListLength()));
        all.add(
                Capability.limit(
                        "max_receive_buffer_list_length",
                        Unit.COUNT,
                        rdma.maxReceiveBufferListLength()));
        return List.copyOf(all);
    }
}
