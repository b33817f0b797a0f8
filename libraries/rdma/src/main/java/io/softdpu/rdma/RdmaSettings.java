package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.RdmaProvider;
import io.softdpu.rdma.spi.RnrTimer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the {@link RdmaContext} with the properties of {@link Rdma}, each checked against
 * the device's capabilities.
 */
abstract sealed class RdmaSettings extends ContextBase<Rdma> permits RdmaContext {
    private final RdmaCapabilities capabilities;
    private Permissions permissions = Permissions.LOCAL_READ_ONLY;
    private int sendQueueSize;

    /** 0 for one that holds all receive tasks, within the limit. */
    private int receiveQueueSize;

    private int maxSendBufferListLength = 1;
    private int receiveBufferListLength = 1;
    private int maxConnections = 1;
    private int pathMtuBytes;
    private int gidIndex;

    /** Null unless the program has set it. */
    private @Nullable String provider;

    private RdmaTransportType transportType = RdmaTransportType.RC;
    private int rnrRetries = Rdma.DEFAULT_RNR_RETRIES;
    private RnrTimer rnrTimer = RnrTimer.atLeast(Rdma.DEFAULT_RNR_TIMER.toNanos());
    private long connectTimeoutNanos = Rdma.DEFAULT_CONNECT_TIMEOUT.toNanos();

    RdmaSettings(Device device) {
        super("rdma " + device.info().ibdevName(), device);
        this.capabilities = RdmaCapabilities.of(device.info());
        this.sendQueueSize =
                Math.min(
                        Math.min(Rdma.DEFAULT_SEND_QUEUE_SIZE, capabilities.maxSendQueueSize()),
                        Integer.highestOneBit(capabilities.maxSendQueueElements()));
        Map<String, String> environment = System.getenv();
        this.pathMtuBytes =
                RdmaVariables.pathMtuBytes(
                        environment,
                        capabilities.minPathMtuBytes(),
                        capabilities.maxPathMtuBytes());
        this.gidIndex = RdmaVariables.gidIndex(environment, capabilities.gidAddresses().size());
    }

    public final Rdma setPermissions(Permissions permissions) {
        requireConfigurable();
        Arguments.notNull(permissions, "permissions");
        if (permissions.allowsPci()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "RDMA instance cannot grant PCIe permissions: permissions=" + permissions);
        }
        this.permissions = permissions;
        return self();
    }

    public final Permissions permissions() {
        return permissions;
    }

    public final Rdma setSendQueueSize(int tasks) {
        requireConfigurable();
        requireRange("sendQueueSize", tasks, 1, capabilities.maxSendQueueSize());
        int size = powerOfTwo(tasks);
        requireElements(size, maxSendBufferListLength);
        sendQueueSize = size;
        return self();
    }

    public final int sendQueueSize() {
        return sendQueueSize;
    }

    public final Rdma setReceiveQueueSize(int tasks) {
        requireConfigurable();
        requireRange("receiveQueueSize", tasks, 1, capabilities.maxReceiveQueueSize());
        receiveQueueSize = powerOfTwo(tasks);
        return self();
    }

    /** The size that was set, or as many as there are receive tasks, within the limit. */
    public final int receiveQueueSize() {
        return receiveQueueSize == 0
                ? Math.max(1, Math.min(receiveTasks(), capabilities.maxReceiveQueueSize()))
                : receiveQueueSize;
    }

    /** Number of receive tasks; 0 without any. */
    abstract int receiveTasks();

    public final Rdma setMaxSendBufferListLength(int length) {
        requireConfigurable();
        requireRange("maxSendBufferListLength", length, 1, capabilities.maxSendBufferListLength());
        requireElements(sendQueueSize, length);
        maxSendBufferListLength = length;
        return self();
    }

    public final int maxSendBufferListLength() {
        return maxSendBufferListLength;
    }

    public final Rdma setReceiveBufferListLength(int length) {
        requireConfigurable();
        requireRange(
                "receiveBufferListLength", length, 1, capabilities.maxReceiveBufferListLength());
        receiveBufferListLength = length;
        return self();
    }

    public final int receiveBufferListLength() {
        return receiveBufferListLength;
    }

    public final Rdma setMaxConnections(int count) {
        requireConfigurable();
        requireRange("maxConnections", count, 1, capabilities.maxConnections());
        maxConnections = count;
        return self();
    }

    public final int maxConnections() {
        return maxConnections;
    }

    public final Rdma setPathMtuBytes(int bytes) {
        requireConfigurable();
        requireRange(
                "pathMtuBytes",
                bytes,
                capabilities.minPathMtuBytes(),
                capabilities.maxPathMtuBytes());
        if (Integer.bitCount(bytes) != 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA property is no power of two: pathMtuBytes=%d, expected=256, 512,"
                                    + " 1024, 2048 or 4096",
                            bytes));
        }
        pathMtuBytes = bytes;
        return self();
    }

    public final int pathMtuBytes() {
        return pathMtuBytes;
    }

    public final Rdma setGidIndex(int index) {
        requireConfigurable();
        requireRange("gidIndex", index, 0, capabilities.gidAddresses().size() - 1);
        gidIndex = index;
        return self();
    }

    public final int gidIndex() {
        return gidIndex;
    }

    public final Rdma setProvider(String name) {
        requireConfigurable();
        Arguments.notNull(name, "name");
        List<RdmaProvider> _ = Providers.chosen(device().info(), name);
        provider = name;
        return self();
    }

    public final String provider() {
        return provider == null ? Rdma.ANY_PROVIDER : provider;
    }

    /** The providers that may serve the instance, at least one. */
    final List<RdmaProvider> providers() {
        return provider == null
                ? Providers.ofEnvironment(device().info())
                : Providers.chosen(device().info(), provider);
    }

    public final Rdma setTransportType(RdmaTransportType type) {
        requireConfigurable();
        if (!capabilities.isSupported(type)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "RDMA transport type is not supported: type=%s, expected=%s",
                            type, RdmaTransportType.RC));
        }
        transportType = type;
        return self();
    }

    public final RdmaTransportType transportType() {
        return transportType;
    }

    public final Rdma setRnrRetries(int retries) {
        requireConfigurable();
        requireRange("rnrRetries", retries, 0, Rdma.RNR_RETRIES_UNLIMITED);
        rnrRetries = retries;
        return self();
    }

    public final int rnrRetries() {
        return rnrRetries;
    }

    public final Rdma setRnrTimer(Duration timer) {
        requireConfigurable();
        long nanos = Arguments.positiveNanos(timer, "timer");
        if (nanos > RnrTimer.LONGEST.nanos()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA property out of range: rnrTimerNanos=%d, expected=1 to %d",
                            nanos, RnrTimer.LONGEST.nanos()));
        }
        rnrTimer = RnrTimer.atLeast(nanos);
        return self();
    }

    public final Duration rnrTimer() {
        return Duration.ofNanos(rnrTimer.nanos());
    }

    public final Rdma setConnectTimeout(Duration timeout) {
        requireConfigurable();
        connectTimeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        return self();
    }

    public final Duration connectTimeout() {
        return Duration.ofNanos(connectTimeoutNanos);
    }

    final RdmaCapabilities capabilities() {
        return capabilities;
    }

    /** The properties as a provider's configuration. */
    final EndpointConfig endpointConfig() {
        return new EndpointConfig(
                device(),
                services(),
                permissions,
                sendQueueSize,
                receiveQueueSize(),
                maxSendBufferListLength,
                receiveBufferListLength,
                maxConnections,
                pathMtuBytes,
                capabilities.gidAddresses().get(gidIndex),
                rnrRetries,
                rnrTimer,
                connectTimeoutNanos);
    }

    private static int powerOfTwo(int atLeast) {
        return atLeast == 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }

    /** The product of both properties is what a provider has to hold for one connection. */
    private void requireElements(int queueSize, int listLength) {
        long elements = (long) queueSize * listLength;
        if (elements > capabilities.maxSendQueueElements()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "send queue and buf lists are too large together: sendQueueSize=%d,"
                                + " maxSendBufferListLength=%d, elements=%d, expected=%d at most",
                            queueSize, listLength, elements, capabilities.maxSendQueueElements()));
        }
    }

    private static void requireRange(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "RDMA property out of range: "
                            + name
                            + "="
                            + value
                            + ", expected="
                            + least
                            + " to "
                            + most);
        }
    }
}
