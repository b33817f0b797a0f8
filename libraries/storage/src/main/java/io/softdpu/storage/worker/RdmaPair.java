package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskCallback;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.RdmaConnectionRole;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Pair of RDMA contexts of a worker, with one connection each: separate contexts, so that long
 * reads and writes do not delay short messages.
 */
public final class RdmaPair {
    private final Rdma data;
    private final Rdma control;
    private final Map<RdmaConnectionRole, RdmaConnection> connections =
            new EnumMap<>(RdmaConnectionRole.class);

    /** Creates a pair that has not been started. */
    public RdmaPair(Rdma data, Rdma control) {
        this.data = data;
        this.control = control;
    }

    /**
     * Configures the receive and send tasks of the control context for io_messages.
     *
     * @param slots number of tasks per type, and size of the send queue
     */
    public void configureMessages(
            int slots,
            RdmaTaskCallback<RdmaSendTask> sent,
            RdmaTaskCallback<RdmaSendTask> notSent,
            RdmaTaskCallback<RdmaReceiveTask> received,
            RdmaTaskCallback<RdmaReceiveTask> notReceived) {
        // A side awaits the next message once its answer was received, so it may be late for that,
        // and frozen meanwhile. That a peer is gone is told by its connections.
        control.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
        control.setSendQueueSize(slots);
        control.setSendTasks(slots, sent, notSent);
        control.setReceiveTasks(slots, received, notReceived);
    }

    /**
     * Sets the only provider to use; {@link Rdma#ANY_PROVIDER} leaves the choice to the contexts.
     *
     * @throws DpuException NOT_FOUND if no provider of this name serves the device
     */
    public void setProvider(String name) {
        if (!name.equals(Rdma.ANY_PROVIDER)) {
            data.setProvider(name);
            control.setProvider(name);
        }
    }

    /** Starts both contexts. They are RUNNING once they are connected. */
    public void start(long timeoutNanos) {
        data.setConnectTimeout(Duration.ofNanos(timeoutNanos));
        control.setConnectTimeout(Duration.ofNanos(timeoutNanos));
        data.start();
        control.start();
    }

    /**
     * Exports a connection of the context with this role, for the other side.
     *
     * @throws DpuException BAD_STATE if it was exported already
     */
    public Blob export(RdmaConnectionRole role) {
        if (connections.containsKey(role)) {
            throw new DpuException(
                    Status.BAD_STATE, "RDMA context is connected already: role=" + role);
        }
        RdmaConnection connection = context(role).exportConnection();
        connections.put(role, connection);
        return Blob.of(connection.blob());
    }

    /** Begins to connect the context with this role to the other side's export. */
    public void connect(RdmaConnectionRole role, Blob details) {
        context(role).connect(details.bytes(), connection(role));
    }

    /** Name of the provider that serves the connections, or of each; they are connected. */
    public String provider() {
        return Arrays.stream(RdmaConnectionRole.values())
                .map(role -> connection(role).provider())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /** The lower path MTU of both connections in bytes; they are connected. */
    public int pathMtuBytes() {
        return Arrays.stream(RdmaConnectionRole.values())
                .mapToInt(role -> connection(role).pathMtuBytes())
                .min()
                .orElse(0);
    }

    /** What the provider has counted for both connections, which may have ended, and the device. */
    public RdmaCounters counters() {
        RdmaCounters all = RdmaCounters.NONE;
        for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
            all =
                    all.with(
                            new RdmaCounters(
                                    connection(role).counters(), context(role).deviceCounters()));
        }
        return all;
    }

    /** The context with this role. */
    public Rdma context(RdmaConnectionRole role) {
        return switch (role) {
            case IO_DATA -> data;
            case IO_CONTROL -> control;
        };
    }

    /**
     * The connection with this role.
     *
     * @throws DpuException BAD_STATE before it was exported
     */
    public RdmaConnection connection(RdmaConnectionRole role) {
        @Nullable RdmaConnection connection = connections.get(role);
        if (connection == null) {
            throw new DpuException(Status.BAD_STATE, "RDMA context is not connected: role=" + role);
        }
        return connection;
    }
}
