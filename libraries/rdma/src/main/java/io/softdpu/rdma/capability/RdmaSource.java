package io.softdpu.rdma.capability;

import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaTransportType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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
        RdmaCapabilities rdma = RdmaCapabilities.of(device);
        List<Capability> all = new ArrayList<>();
        all.add(Capability.support("instance", rdma.isSupported()));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(
                    Capability.support(
                            "task_" + type.name().toLowerCase(Locale.ROOT),
                            rdma.isSupported(type)));
        }
        for (RdmaTransportType type : RdmaTransportType.values()) {
            all.add(
                    Capability.support(
                            "transport_" + type.name().toLowerCase(Locale.ROOT),
                            rdma.isSupported(type)));
        }
        all.add(Capability.limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, rdma.maxMessageBytes()));
        all.add(Capability.limit(RdmaCapabilities.SEND_QUEUE_SIZE_LIMIT, rdma.maxSendQueueSize()));
        all.add(
                Capability.limit(
                        RdmaCapabilities.RECEIVE_QUEUE_SIZE_LIMIT, rdma.maxReceiveQueueSize()));
        all.add(
                Capability.limit(
                        RdmaCapabilities.SEND_QUEUE_ELEMENTS_LIMIT, rdma.maxSendQueueElements()));
        all.add(
                Capability.limit(
                        RdmaCapabilities.SEND_BUFFER_LIST_LENGTH_LIMIT,
                        rdma.maxSendBufferListLength()));
        all.add(
                Capability.limit(
                        RdmaCapabilities.RECEIVE_BUFFER_LIST_LENGTH_LIMIT,
                        rdma.maxReceiveBufferListLength()));
        all.add(Capability.limit(RdmaCapabilities.CONNECTIONS_LIMIT, rdma.maxConnections()));
        all.add(Capability.limit("min_path_mtu", Unit.BYTES, rdma.minPathMtuBytes()));
        all.add(Capability.limit(RdmaCapabilities.PATH_MTU_LIMIT, rdma.maxPathMtuBytes()));
        all.add(Capability.limit("gids", Unit.COUNT, rdma.gidAddresses().size()));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(Capability.limit(RdmaCapabilities.tasksLimit(type), rdma.maxTasks(type)));
        }
        return List.copyOf(all);
    }
}
