package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.RnrTimer;
import java.time.Duration;

/** Properties of an RDMA instance, each checked against the device's capabilities. */
final class RdmaSettings {
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
    private RdmaTransportType transportType = RdmaTransportType.RC;
    private int rnrRetries = Rdma.DEFAULT_RNR_RETRIES;
    private RnrTimer rnrTimer = RnrTimer.atLeast(Rdma.DEFAULT_RNR_TIMER.toNanos());
    private long connectTimeoutNanos = Rdma.DEFAULT_CONNECT_TIMEOUT.toNanos();

    RdmaSettings(RdmaCapabilities capabilities) {
        this.capabilities = capabilities;
        this.sendQueueSize =
                Math.min(
                        Math.min(Rdma.DEFAULT_SEND_QUEUE_SIZE, capabilities.maxSendQueueSize()),
                        Integer.highestOneBit(capabilities.maxSendQueueElements()));
        this.pathMtuBytes =
                Math.clamp(
                        Rdma.DEFAULT_PATH_MTU_BYTES,
                        capabilities.minPathMtuBytes(),
                        capabilities.maxPathMtuBytes());
    }

    void setPermissions(Permissions permissions) {
        Arguments.notNull(permissions, "permissions");
        if (permissions.allowsPci()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "RDMA instance cannot grant PCIe permissions: permissions=" + permissions);
        }
        this.permissions = permissions;
    }

    Permissions permissions() {
        return permissions;
    }

    void setSendQueueSize(int tasks) {
        requireRange("sendQueueSize", tasks, 1, capabilities.maxSendQueueSize());
        int size = powerOfTwo(tasks);
        requireElements(size, maxSendBufferListLength);
        sendQueueSize = size;
    }

    int sendQueueSize() {
        return sendQueueSize;
    }

    void setReceiveQueueSize(int tasks) {
        requireRange("receiveQueueSize", tasks, 1, capabilities.maxReceiveQueueSize());
        receiveQueueSize = powerOfTwo(tasks);
    }

    /**
     * The size that was set, or as many as there are receive tasks, within the limit.
     *
     * @param receiveTasks their number, 0 without any
     */
    int receiveQueueSize(int receiveTasks) {
        return receiveQueueSize == 0
                ? Math.max(1, Math.min(receiveTasks, capabilities.maxReceiveQueueSize()))
                : receiveQueueSize;
    }

    void setMaxSendBufferListLength(int length) {
        requireRange("maxSendBufferListLength", length, 1, capabilities.maxSendBufferListLength());
        requireElements(sendQueueSize, length);
        maxSendBufferListLength = length;
    }

    int maxSendBufferListLength() {
        return maxSendBufferListLength;
    }

    void setReceiveBufferListLength(int length) {
        requireRange(
                "receiveBufferListLength", length, 1, capabilities.maxReceiveBufferListLength());
        receiveBufferListLength = length;
    }

    int receiveBufferListLength() {
        return receiveBufferListLength;
    }

    void setMaxConnections(int count) {
        requireRange("maxConnections", count, 1, capabilities.maxConnections());
        maxConnections = count;
    }

    int maxConnections() {
        return maxConnections;
    }

    void setPathMtuBytes(int bytes) {
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
    }

    int pathMtuBytes() {
        return pathMtuBytes;
    }

    void setGidIndex(int index) {
        requireRange("gidIndex", index, 0, capabilities.gidAddresses().size() - 1);
        gidIndex = index;
    }

    int gidIndex() {
        return gidIndex;
    }

    void setTransportType(RdmaTransportType type) {
        if (!capabilities.isSupported(type)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "RDMA transport type is not supported: type=%s, expected=%s",
                            type, RdmaTransportType.RC));
        }
        transportType = type;
    }

    RdmaTransportType transportType() {
        return transportType;
    }

    void setRnrRetries(int retries) {
        requireRange("rnrRetries", retries, 0, Rdma.RNR_RETRIES_UNLIMITED);
        rnrRetries = retries;
    }

    int rnrRetries() {
        return rnrRetries;
    }

    void setRnrTimer(Duration timer) {
        long nanos = Arguments.positiveNanos(timer, "timer");
        if (nanos > RnrTimer.LONGEST.nanos()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "RDMA property out of range: rnrTimerNanos=%d, expected=1 to %d",
                            nanos, RnrTimer.LONGEST.nanos()));
        }
        rnrTimer = RnrTimer.atLeast(nanos);
    }

    Duration rnrTimer() {
        return Duration.ofNanos(rnrTimer.nanos());
    }

    void setConnectTimeout(Duration timeout) {
        connectTimeoutNanos = Arguments.positiveNanos(timeout, "timeout");
    }

    Duration connectTimeout() {
        return Duration.ofNanos(connectTimeoutNanos);
    }

    /** The properties as a provider's configuration. */
    EndpointConfig endpointConfig(Device device, ContextServices services, int receiveTasks) {
        return new EndpointConfig(
                device,
                services,
                permissions,
                sendQueueSize,
                receiveQueueSize(receiveTasks),
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
