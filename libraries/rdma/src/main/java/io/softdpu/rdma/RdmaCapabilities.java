package io.softdpu.rdma;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.rdma.spi.ProviderLimits;
import io.softdpu.rdma.spi.RdmaProvider;
import java.util.List;

/**
 * Capabilities and limits of RDMA instances on a device (RDMA guide, {@code doca_rdma_cap_*}). Each
 * limit is the lowest of all providers that support the device, so that it holds whichever is
 * selected. Immutable; any thread.
 */
public final class RdmaCapabilities {
    /** The limit that lowers {@link #maxMessageBytes()}. */
    public static final DeviceLimit MESSAGE_SIZE_LIMIT =
            DeviceLimit.ofBytes("rdma", "max_message_size");

    /** The limit that lowers {@link #maxSendQueueSize()}; rounded down to a power of two. */
    public static final DeviceLimit SEND_QUEUE_SIZE_LIMIT =
            DeviceLimit.ofCount("rdma", "max_send_queue_size");

    /** The limit that lowers {@link #maxConnections()}. */
    public static final DeviceLimit CONNECTIONS_LIMIT =
            DeviceLimit.ofCount("rdma", "max_connections");

    /** The limit that lowers {@link #maxReceiveTasks()}. */
    public static final DeviceLimit RECEIVE_TASKS_LIMIT =
            DeviceLimit.ofCount("rdma", "max_receive_tasks");

    private final List<RdmaProvider> providers;
    private final ProviderLimits limits;

    private RdmaCapabilities(List<RdmaProvider> providers, ProviderLimits limits) {
        this.providers = providers;
        this.limits = limits;
    }

    /** The capabilities of a device, which need not be open. */
    public static RdmaCapabilities of(DeviceInfo device) {
        Arguments.notNull(device, "device");
        List<RdmaProvider> providers = Providers.supporting(device);
        return new RdmaCapabilities(
                providers,
                providers.stream()
                        .map(provider -> provider.limits(device))
                        .reduce(RdmaCapabilities::lower)
                        .map(limits -> lowered(limits, device.function()))
                        .orElse(new ProviderLimits(0, 0, 0, 0)));
    }

    private static ProviderLimits lower(ProviderLimits a, ProviderLimits b) {
        return new ProviderLimits(
                Math.min(a.maxMessageBytes(), b.maxMessageBytes()),
                Math.min(a.maxSendQueueSize(), b.maxSendQueueSize()),
                Math.min(a.maxConnections(), b.maxConnections()),
                Math.min(a.maxReceiveTasks(), b.maxReceiveTasks()));
    }

    private static ProviderLimits lowered(ProviderLimits limits, PciFunction function) {
        return new ProviderLimits(
                function.lowered(MESSAGE_SIZE_LIMIT, limits.maxMessageBytes()),
                Integer.highestOneBit(
                        (int) function.lowered(SEND_QUEUE_SIZE_LIMIT, limits.maxSendQueueSize())),
                (int) function.lowered(CONNECTIONS_LIMIT, limits.maxConnections()),
                (int) function.lowered(RECEIVE_TASKS_LIMIT, limits.maxReceiveTasks()));
    }

    /** Whether an RDMA instance can be created on the device. */
    public boolean isSupported() {
        return !providers.isEmpty();
    }

    /** Whether instances on the device support this operation. */
    public boolean isSupported(RdmaTaskType type) {
        Arguments.notNull(type, "type");
        return isSupported()
                && switch (type) {
                    case RECEIVE, SEND, READ, WRITE -> true;
                    case SEND_IMMEDIATE,
                            WRITE_IMMEDIATE,
                            ATOMIC_COMPARE_AND_SWAP,
                            ATOMIC_FETCH_AND_ADD,
                            REMOTE_SYNC_EVENT_GET,
                            REMOTE_SYNC_EVENT_NOTIFY_SET,
                            REMOTE_SYNC_EVENT_NOTIFY_ADD ->
                            false;
                };
    }

    /** Names of the providers that support the device, the preferred one first. */
    public List<String> providers() {
        return Providers.names(providers);
    }

    /** Largest message, read or write, in bytes. */
    public long maxMessageBytes() {
        return limits.maxMessageBytes();
    }

    /** Largest send queue of a connection, in tasks. */
    public int maxSendQueueSize() {
        return limits.maxSendQueueSize();
    }

    /** Largest number of connections of an instance. */
    public int maxConnections() {
        return limits.maxConnections();
    }

    /** Longest buf list of a send, read or write: 1, since lists are not supported. */
    public int maxSendBufferListLength() {
        return isSupported() ? RdmaTask.MAX_LIST_LENGTH : 0;
    }

    /** Longest buf list of a receive: 1, since lists are not supported. */
    public int maxReceiveBufferListLength() {
        return isSupported() ? RdmaTask.MAX_LIST_LENGTH : 0;
    }

    /** Largest number of receive tasks of an instance. */
    public int maxReceiveTasks() {
        return limits.maxReceiveTasks();
    }
}
