package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.rdma.spi.ProviderLimits;
import io.softdpu.rdma.spi.RdmaProvider;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Capabilities and limits of RDMA instances on a device (RDMA guide, {@code doca_rdma_cap_*}). They
 * come from the providers: what is supported by all that serve the device, and the lowest of their
 * limits, so that it holds whichever is selected; or those of one provider, by its name. Immutable;
 * any thread.
 */
public final class RdmaCapabilities {
    /** The limit that lowers {@link #maxMessageBytes()}. */
    public static final DeviceLimit MESSAGE_SIZE_LIMIT =
            DeviceLimit.ofBytes("rdma", "max_message_size");

    /** The limit that lowers {@link #maxSendQueueSize()}; rounded down to a power of two. */
    public static final DeviceLimit SEND_QUEUE_SIZE_LIMIT =
            DeviceLimit.ofCount("rdma", "max_send_queue_size");

    /** The limit that lowers {@link #maxReceiveQueueSize()}; rounded down to a power of two. */
    public static final DeviceLimit RECEIVE_QUEUE_SIZE_LIMIT =
            DeviceLimit.ofCount("rdma", "max_receive_queue_size");

    /** The limit that lowers {@link #maxSendQueueElements()}. */
    public static final DeviceLimit SEND_QUEUE_ELEMENTS_LIMIT =
            DeviceLimit.ofCount("rdma", "max_send_queue_elements");

    /** The limit that lowers {@link #maxSendBufferListLength()}. */
    public static final DeviceLimit SEND_BUFFER_LIST_LENGTH_LIMIT =
            DeviceLimit.ofCount("rdma", "max_send_buffer_list_length");

    /** The limit that lowers {@link #maxReceiveBufferListLength()}. */
    public static final DeviceLimit RECEIVE_BUFFER_LIST_LENGTH_LIMIT =
            DeviceLimit.ofCount("rdma", "max_receive_buffer_list_length");

    /** The limit that lowers {@link #maxConnections()}. */
    public static final DeviceLimit CONNECTIONS_LIMIT =
            DeviceLimit.ofCount("rdma", "max_connections");

    /** The limit that lowers {@link #maxPathMtuBytes()}; rounded down to a power of two. */
    public static final DeviceLimit PATH_MTU_LIMIT = DeviceLimit.ofBytes("rdma", "max_path_mtu");

    /** The limit that lowers {@link #maxReceiveTasks()}; 0 for a device without receive tasks. */
    public static final DeviceLimit RECEIVE_TASKS_LIMIT = tasksLimitOf(RdmaTaskType.RECEIVE);

    /** What the RDMA guide limits every message to. */
    private static final long MAX_MESSAGE_BYTES = 1L << 31;

    private static final Map<RdmaTaskType, DeviceLimit> TASKS_LIMITS = tasksLimits();

    private final List<RdmaProvider> providers;
    private final ProviderLimits limits;
    private final PciFunction function;

    private RdmaCapabilities(
            List<RdmaProvider> providers, ProviderLimits limits, PciFunction function) {
        this.providers = providers;
        this.limits = limits;
        this.function = function;
    }

    /** The capabilities of a device, which need not be open, whichever provider is selected. */
    public static RdmaCapabilities of(DeviceInfo device) {
        Arguments.notNull(device, "device");
        return of(device, Providers.supporting(device));
    }

    /**
     * The capabilities of a device with one provider.
     *
     * @param provider one of {@link #providers()} of the device
     * @throws DpuException NOT_FOUND if no provider of this name serves the device, naming those
     *     that do
     */
    public static RdmaCapabilities of(DeviceInfo device, String provider) {
        Arguments.notNull(device, "device");
        Arguments.notNull(provider, "provider");
        List<RdmaProvider> supporting = Providers.supporting(device);
        return of(device, List.of(Providers.named(supporting, device, provider)));
    }

    /**
     * Checks the name of a provider that a user has chosen, before an instance needs it.
     *
     * @param name one of {@link #providers()} of the device, or {@link Rdma#ANY_PROVIDER}, which is
     *     accepted for any device
     * @param source where the name is from, for the message: {@code option=--provider}
     * @throws DpuException NOT_FOUND if no provider of this name serves the device, naming those
     *     that do
     */
    public static void requireProvider(DeviceInfo device, String name, String source) {
        Arguments.notNull(device, "device");
        Arguments.notNull(name, "name");
        Arguments.notNull(source, "source");
        if (!name.equals(Rdma.ANY_PROVIDER)) {
            List<RdmaProvider> _ =
                    Providers.chosen(Providers.supporting(device), device, source, name);
        }
    }

    private static RdmaCapabilities of(DeviceInfo device, List<RdmaProvider> providers) {
        PciFunction function = device.function();
        return new RdmaCapabilities(
                providers,
                providers.stream()
                        .map(provider -> provider.limits(device))
                        .reduce(ProviderLimits::and)
                        .map(limits -> lowered(limits, function))
                        .orElse(ProviderLimits.NONE),
                function);
    }

    private static ProviderLimits lowered(ProviderLimits limits, PciFunction function) {
        return new ProviderLimits(
                limits.operations(),
                function.lowered(
                        MESSAGE_SIZE_LIMIT, Math.min(limits.maxMessageBytes(), MAX_MESSAGE_BYTES)),
                powerOfTwo(function.lowered(SEND_QUEUE_SIZE_LIMIT, limits.maxSendQueueSize())),
                powerOfTwo(
                        function.lowered(RECEIVE_QUEUE_SIZE_LIMIT, limits.maxReceiveQueueSize())),
                (int) function.lowered(SEND_QUEUE_ELEMENTS_LIMIT, limits.maxSendQueueElements()),
                (int) function.lowered(SEND_BUFFER_LIST_LENGTH_LIMIT, limits.maxSendListLength()),
                (int)
                        function.lowered(
                                RECEIVE_BUFFER_LIST_LENGTH_LIMIT, limits.maxReceiveListLength()),
                (int) function.lowered(CONNECTIONS_LIMIT, limits.maxConnections()),
                limits.maxTasks(),
                limits.maxReceiveTasks(),
                limits.minPathMtuBytes(),
                Math.max(
                        limits.minPathMtuBytes(),
                        powerOfTwo(function.lowered(PATH_MTU_LIMIT, limits.maxPathMtuBytes()))));
    }

    private static int powerOfTwo(long atMost) {
        return Integer.highestOneBit((int) atMost);
    }

    private static Map<RdmaTaskType, DeviceLimit> tasksLimits() {
        Map<RdmaTaskType, DeviceLimit> limits = new EnumMap<>(RdmaTaskType.class);
        for (RdmaTaskType type : RdmaTaskType.values()) {
            limits.put(type, tasksLimitOf(type));
        }
        return limits;
    }

    private static DeviceLimit tasksLimitOf(RdmaTaskType type) {
        return DeviceLimit.ofOptionalCount(
                "rdma", "max_" + type.name().toLowerCase(Locale.ROOT) + "_tasks");
    }

    /**
     * The limit that lowers {@link #maxTasks} of a type; 0 for a device that does not support it.
     */
    public static DeviceLimit tasksLimit(RdmaTaskType type) {
        Arguments.notNull(type, "type");
        return Objects.requireNonNull(TASKS_LIMITS.get(type), "each type has one");
    }

    /** Whether RDMA instances can be created on the device. */
    public boolean isSupported() {
        return !providers.isEmpty();
    }

    /** Whether instances on the device have tasks of this type. */
    public boolean isSupported(RdmaTaskType type) {
        return maxTasks(type) > 0;
    }

    /** Whether instances on the device can use this transport. */
    public boolean isSupported(RdmaTransportType type) {
        Arguments.notNull(type, "type");
        return isSupported() && type == RdmaTransportType.RC;
    }

    /** Limit of tasks of a type of an instance; 0 if the device does not support the type. */
    public int maxTasks(RdmaTaskType type) {
        Arguments.notNull(type, "type");
        int ofProviders = 0;
        if (limits.operations().contains(type.kind)) {
            ofProviders =
                    type == RdmaTaskType.RECEIVE ? limits.maxReceiveTasks() : limits.maxTasks();
        }
        return (int) function.lowered(tasksLimit(type), ofProviders);
    }

    /** Names of the providers that support the device, the preferred one first. */
    public List<String> providers() {
        return Providers.names(providers);
    }

    /** Limit of bytes of an operation, at most 2 GiB. */
    public long maxMessageBytes() {
        return limits.maxMessageBytes();
    }

    /** Limit of the send queue of a connection, in tasks; a power of two. */
    public int maxSendQueueSize() {
        return limits.maxSendQueueSize();
    }

    /** Limit of the receive queue of an instance, in tasks; a power of two. */
    public int maxReceiveQueueSize() {
        return limits.maxReceiveQueueSize();
    }

    /**
     * Limit of the product of {@link Rdma#sendQueueSize()} and {@link
     * Rdma#maxSendBufferListLength()}: the longer the lists, the fewer tasks in one go.
     */
    public int maxSendQueueElements() {
        return limits.maxSendQueueElements();
    }

    /** Limit of connections of an instance. */
    public int maxConnections() {
        return limits.maxConnections();
    }

    /** Limit of elements of the local buf list of any task but a receive. */
    public int maxSendBufferListLength() {
        return limits.maxSendListLength();
    }

    /** Limit of elements of the buf list of a receive. */
    public int maxReceiveBufferListLength() {
        return limits.maxReceiveListLength();
    }

    /** Limit of receive tasks of an instance. */
    public int maxReceiveTasks() {
        return maxTasks(RdmaTaskType.RECEIVE);
    }

    /** Lowest path MTU; a power of two. */
    public int minPathMtuBytes() {
        return limits.minPathMtuBytes();
    }

    /** Highest path MTU; a power of two. */
    public int maxPathMtuBytes() {
        return limits.maxPathMtuBytes();
    }

    /**
     * The addresses of the device that are GIDs, by {@linkplain Rdma#setGidIndex index}: its IPv4
     * address, which is mapped into IPv6 as a GID, and its IPv6 address.
     */
    public List<InetAddress> gidAddresses() {
        return List.of(function.ipv4(), function.ipv6());
    }

    /**
     * All of these by name, as {@link io.softdpu.core.capability.Capabilities} has them: support of
     * instances, of each task type and of each transport, then limits.
     */
    public List<Capability> all() {
        List<Capability> all = new ArrayList<>();
        all.add(Capability.support("instance", isSupported()));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(
                    Capability.support(
                            "task_" + type.name().toLowerCase(Locale.ROOT), isSupported(type)));
        }
        for (RdmaTransportType type : RdmaTransportType.values()) {
            all.add(
                    Capability.support(
                            "transport_" + type.name().toLowerCase(Locale.ROOT),
                            isSupported(type)));
        }
        all.add(Capability.limit(MESSAGE_SIZE_LIMIT, maxMessageBytes()));
        all.add(Capability.limit(SEND_QUEUE_SIZE_LIMIT, maxSendQueueSize()));
        all.add(Capability.limit(RECEIVE_QUEUE_SIZE_LIMIT, maxReceiveQueueSize()));
        all.add(Capability.limit(SEND_QUEUE_ELEMENTS_LIMIT, maxSendQueueElements()));
        all.add(Capability.limit(SEND_BUFFER_LIST_LENGTH_LIMIT, maxSendBufferListLength()));
        all.add(Capability.limit(RECEIVE_BUFFER_LIST_LENGTH_LIMIT, maxReceiveBufferListLength()));
        all.add(Capability.limit(CONNECTIONS_LIMIT, maxConnections()));
        all.add(Capability.limit("min_path_mtu", Unit.BYTES, minPathMtuBytes()));
        all.add(Capability.limit(PATH_MTU_LIMIT, maxPathMtuBytes()));
        all.add(Capability.limit("gids", Unit.COUNT, gidAddresses().size()));
        for (RdmaTaskType type : RdmaTaskType.values()) {
            all.add(Capability.limit(tasksLimit(type), maxTasks(type)));
        }
        return List.copyOf(all);
    }
}
