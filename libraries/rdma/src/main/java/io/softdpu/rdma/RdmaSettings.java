package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.rdma.spi.EndpointConfig;
import java.time.Duration;

/** Properties of an RDMA instance, each checked against the device's capabilities. */
final class RdmaSettings {
    private final RdmaCapabilities capabilities;
    private Permissions permissions = Permissions.LOCAL_READ_ONLY;
    private int sendQueueSize;
    private int maxConnections = 1;
    private int rnrRetries = Rdma.RNR_RETRIES_UNLIMITED;
    private long connectTimeoutNanos = Rdma.DEFAULT_CONNECT_TIMEOUT.toNanos();

    RdmaSettings(RdmaCapabilities capabilities) {
        this.capabilities = capabilities;
        this.sendQueueSize =
                Math.min(Rdma.DEFAULT_SEND_QUEUE_SIZE, capabilities.maxSendQueueSize());
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
        sendQueueSize = tasks == 1 ? 1 : Integer.highestOneBit(tasks - 1) << 1;
    }

    int sendQueueSize() {
        return sendQueueSize;
    }

    void setMaxConnections(int count) {
        requireRange("maxConnections", count, 1, capabilities.maxConnections());
        maxConnections = count;
    }

    int maxConnections() {
        return maxConnections;
    }

    void setRnrRetries(int retries) {
        requireRange("rnrRetries", retries, 0, Rdma.RNR_RETRIES_UNLIMITED);
        rnrRetries = retries;
    }

    int rnrRetries() {
        return rnrRetries;
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
                sendQueueSize,
                maxConnections,
                receiveTasks,
                rnrRetries,
                connectTimeoutNanos);
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
