package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The {@link Rdma} context. */
final class RdmaContext extends RdmaSettings implements Rdma {
    private final RdmaTasks tasks = new RdmaTasks(this);
    private @Nullable RdmaConnectionCallback connectionCallback;
    private @Nullable RdmaConnectionRequestCallback requestCallback;
    private @Nullable ConnectionTable connections;

    RdmaContext(Device device) {
        super(device);
    }

    // ---- configuration, in IDLE ----

    @Override
    int receiveTasks() {
        return tasks.of(ReceiveTask.TYPE).count();
    }

    @Override
    public Rdma setConnectionCallback(@Nullable RdmaConnectionCallback callback) {
        requireConfigurable();
        connectionCallback = callback;
        return this;
    }

    @Override
    public Rdma setConnectionRequestCallback(@Nullable RdmaConnectionRequestCallback callback) {
        requireConfigurable();
        requestCallback = callback;
        return this;
    }

    // ---- connecting, in STARTING and RUNNING ----

    @Override
    public RdmaConnection exportConnection() {
        return startedConnections("export").export(permissions());
    }

    @Override
    public void connect(byte[] peerBlob, RdmaConnection connection) {
        ConnectionTable open = startedConnections("connect");
        Arguments.notNull(peerBlob, "peerBlob");
        open.connect(requireOwn(connection), peerBlob);
    }

    @Override
    public void listen(int port) {
        ConnectionTable open = startedConnections("listen");
        RdmaAddress.requirePort(port);
        if (requestCallback == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "callback is missing to listen: context=%s,"
                                    + " expected=setConnectionRequestCallback, before start",
                            this));
        }
        open.listen(port);
    }

    @Override
    public void stopListening(int port) {
        ConnectionTable open = startedConnections("stopListening");
        RdmaAddress.requirePort(port);
        open.stopListening(port);
    }

    @Override
    public RdmaConnection connect(RdmaAddress address, byte[] privateData) {
        ConnectionTable open = startedConnections("connect");
        Arguments.notNull(address, "address");
        requireData("connect", privateData, MAX_CONNECT_DATA_BYTES);
        return open.connect(address, privateData.clone());
    }

    /** The user accepts a request. */
    RdmaConnection accept(RdmaConnectionRequest request, byte[] privateData) {
        ConnectionTable open = startedConnections("accept");
        requireData("accept", privateData, MAX_ACCEPT_DATA_BYTES);
        request.requirePending();
        return open.accept(request, privateData.clone());
    }

    /** The user rejects a request. */
    void reject(RdmaConnectionRequest request, byte[] privateData) {
        ConnectionTable open = startedConnections("reject");
        requireData("reject", privateData, MAX_REJECT_DATA_BYTES);
        request.requirePending();
        open.reject(request, privateData.clone());
    }

    private static void requireData(String call, byte[] privateData, int limitBytes) {
        Arguments.notNull(privateData, "privateData");
        if (privateData.length > limitBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "too much private data: call=%s, sizeBytes=%d, expected=0 to %d, the"
                                    + " limit of connections over a network; an export of an mmap"
                                    + " fits into the data of accept, anything longer into a"
                                    + " message",
                            call, privateData.length, limitBytes));
        }
    }

    @Override
    public SequencedMap<String, Long> deviceCounters() {
        requireOwnerThread();
        ConnectionTable open = connections;
        return Collections.unmodifiableSequencedMap(
                open == null ? new LinkedHashMap<>() : new LinkedHashMap<>(open.deviceCounters()));
    }

    // ---- hooks of ContextBase ----

    @Override
    protected void checkConfiguration() {
        if (!tasks.isAnyConfigured()
                && connectionCallback == null
                && requestCallback == null
                && !hasStateChangedCallback()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=task type or callback, context=%s,"
                                    + " expected=a method set...Tasks, setConnectionCallback or"
                                    + " setConnectionRequestCallback, before start",
                            this));
        }
    }

    @Override
    protected ContextState onStart() {
        try {
            tasks.makePools();
            connections = new ConnectionTable(this, endpointConfig(), providers());
            return ContextState.STARTING;
        } finally {
            if (connections == null) {
                tasks.dropPools();
            }
        }
    }

    @Override
    protected boolean onProgress() {
        // In STOPPING no data is transferred: onStop, which follows, flushes.
        return state() != ContextState.STOPPING && connections().progress();
    }

    @Override
    protected boolean onStop() {
        ConnectionTable open = connections();
        if (!isProgressing() && inFlightTasks() > 0) {
            return false;
        }
        open.flush();
        if (inFlightTasks() > 0 || !tasks.areAllFreed()) {
            return false;
        }
        open.close();
        connections = null;
        tasks.dropPools();
        return true;
    }

    @Override
    protected BooleanSupplier startWait() {
        return connections()::hasStarted;
    }

    /** Not in STOPPING, where it waits for its tasks alone. */
    @Override
    protected @Nullable String describeAwaited() {
        return state() == ContextState.STOPPING ? null : connections().describeAwaited();
    }

    @Override
    protected boolean onArm() {
        return connections != null && connections.arm();
    }

    @Override
    protected void onDisarm() {
        if (connections != null) {
            connections.disarm();
        }
    }

    @Override
    protected void onRing() {
        if (connections != null) {
            connections.ring();
        }
    }

    // ---- for the operations of task types ----

    <V extends RdmaTask<T>, T extends Task> Rdma configure(
            RdmaTasks.Definition<V, T> definition,
            int count,
            RdmaTaskCallback<T> onSuccess,
            RdmaTaskCallback<T> onFailure) {
        requireConfigurable();
        RdmaTaskType type = definition.type();
        if (!capabilities().isSupported(type)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support this type of RDMA tasks: type=%s, device=%s,"
                                + " limit=%s, expected=a device whose RdmaCapabilities support it",
                            type, device().info().pciAddress(), RdmaCapabilities.tasksLimit(type)));
        }
        tasks.of(definition).configure(count, onSuccess, onFailure);
        return this;
    }

    <U extends Task> U requireAllocated(RdmaTasks.Definition<?, U> definition, @Nullable U task) {
        return tasks.of(definition).requireAllocated(task);
    }

    @Override
    public @Nullable RdmaReceiveTask tryAllocateReceive(@Nullable Buf destination) {
        requireAllocating();
        ReceiveTask task = tasks.of(ReceiveTask.TYPE).tryAllocate();
        return task == null ? null : task.setDestination(destination);
    }

    <V extends MessageTask<T>, T extends Task> @Nullable T tryAllocateMessage(
            RdmaTasks.Definition<V, T> definition,
            RdmaConnection connection,
            @Nullable Buf source) {
        requireAllocating(connection);
        V task = tasks.of(definition).tryAllocate();
        return task == null ? null : task.use(connection, source);
    }

    <V extends RemoteTask<T>, T extends Task> @Nullable T tryAllocateRemote(
            RdmaTasks.Definition<V, T> definition,
            RdmaConnection connection,
            Buf source,
            Buf destination) {
        requireAllocating(connection);
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        V task = tasks.of(definition).tryAllocate();
        return task == null ? null : task.use(connection, source, destination);
    }

    <V extends AtomicTask<T>, T extends Task> @Nullable T tryAllocateAtomic(
            RdmaTasks.Definition<V, T> definition,
            RdmaConnection connection,
            Buf destination,
            Buf result) {
        requireAllocating(connection);
        Arguments.notNull(destination, "destination");
        Arguments.notNull(result, "result");
        V task = tasks.of(definition).tryAllocate();
        return task == null ? null : task.use(connection, destination, result);
    }

    /**
     * Allocates a task on a remote sync event.
     *
     * @param operand the name of the local list: {@code source}
     */
    <V extends RemoteEventTask<T>, T extends Task> @Nullable T tryAllocateOnEvent(
            RdmaTasks.Definition<V, T> definition,
            RdmaConnection connection,
            RemoteSyncEvent event,
            String operand,
            Buf local) {
        requireAllocating(connection);
        Arguments.notNull(event, "event");
        Arguments.notNull(local, operand);
        V task = tasks.of(definition).tryAllocate();
        return task == null ? null : task.use(connection, event, local);
    }

    /** Called before a task leaves its pool: a task that leaks would block a stop. */
    private void requireAllocating(RdmaConnection connection) {
        requireAllocating();
        requireOwn(connection);
    }

    private void requireAllocating() {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
    }

    // ---- for the tasks and connections ----

    RdmaTasks tasks() {
        return tasks;
    }

    long maxMessageBytes() {
        return capabilities().maxMessageBytes();
    }

    @Nullable Refusal postReceive(WorkRequest request) {
        return connections().postReceive(request);
    }

    RdmaConnection requireOwn(RdmaConnection connection) {
        Arguments.notNull(connection, "connection");
        if (connection.context() != this) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "connection belongs to another RDMA instance: connection=" + connection);
        }
        return connection;
    }

    void disconnect(RdmaConnection connection) {
        requireOwnerThread();
        if (connections != null) {
            connections.disconnect(connection);
            workAdded();
        }
    }

    /** A connection was established: the first one makes the context RUNNING. */
    void connectionEstablished() {
        if (state() == ContextState.STARTING) {
            started();
        }
    }

    /** The connection's user knows of it: RUNNING is told before its end, or a received message. */
    void connectionNotified() {
        if (isProgressing()) {
            deliverStateChanges();
        }
    }

    /**
     * A request was accepted, which makes the context RUNNING: at once inside progress.
     *
     * @return whether {@link #connectionEstablished} has to be called in the next progress
     */
    boolean requestAccepted() {
        if (!isProgressing()) {
            workAdded(); // the answer to the peer, if nothing else
            return state() == ContextState.STARTING;
        }
        connectionEstablished();
        return false;
    }

    /**
     * A connection has failed, which is fatal for an instance with only one, and where an atomic
     * operation was in flight.
     */
    void connectionFailed(Status status, String reason, boolean atomic) {
        if (atomic || maxConnections() == 1) {
            fatal(status, reason);
        }
    }

    void notifyConnectionCallback(
            RdmaConnection connection, RdmaConnection.State previous, RdmaConnection.State next) {
        RdmaConnectionCallback callback = connectionCallback;
        if (callback == null) {
            return;
        }
        if (isProgressing()) {
            callNow(callback, connection, previous, next);
        } else {
            post(() -> callNow(callback, connection, previous, next));
        }
    }

    /** Passes a request to the user; inside progress. */
    void notifyRequestCallback(RdmaConnectionRequest request) {
        try {
            Objects.requireNonNull(requestCallback, "checked").onConnectionRequest(request);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }

    private void callNow(
            RdmaConnectionCallback callback,
            RdmaConnection connection,
            RdmaConnection.State previous,
            RdmaConnection.State next) {
        try {
            callback.onConnectionStateChanged(connection, previous, next);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }

    private ConnectionTable connections() {
        return Objects.requireNonNull(connections, "started");
    }

    private ConnectionTable startedConnections(String call) {
        requireOwnerThread();
        ConnectionTable open = connections;
        if (open == null || state() == ContextState.STOPPING) {
            DpuException failed = failure();
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "%s needs a started RDMA instance: context=%s, state=%s%s,"
                                    + " expected=STARTING or RUNNING",
                            call,
                            this,
                            state(),
                            failed == null ? "" : ", failure=" + failed.status()),
                    failed);
        }
        return open;
    }

    void requireThread() {
        requireOwnerThread();
    }

    @Override
    public long dpaHandle() {
        throw new DpuException(
                Status.NOT_SUPPORTED,
                Text.format(
                        "RDMA instance has no handle for an accelerator: context=%s, dataPath=%s,"
                                + " expected=%s",
                        this, DataPathLocation.CPU, DataPathLocation.DPA));
    }
}
