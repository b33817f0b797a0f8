package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.WorkRequest;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The {@link Rdma} context. */
final class RdmaContext extends ContextBase<Rdma> implements Rdma {
    private final RdmaCapabilities capabilities;
    private final RdmaTasks tasks;
    private final RdmaSettings settings;
    private @Nullable RdmaConnectionCallback connectionCallback;
    private @Nullable RdmaConnectionRequestCallback requestCallback;
    private @Nullable ConnectionTable connections;

    RdmaContext(Device device) {
        super("rdma " + device.info().ibdevName(), device);
        this.capabilities = RdmaCapabilities.of(device.info());
        this.tasks = new RdmaTasks(this, capabilities);
        this.settings = new RdmaSettings(capabilities);
    }

    // ---- configuration, in IDLE ----

    @Override
    public Rdma setPermissions(Permissions permissions) {
        requireConfigurable();
        settings.setPermissions(permissions);
        return this;
    }

    @Override
    public Permissions permissions() {
        return settings.permissions();
    }

    @Override
    public Rdma setSendQueueSize(int tasks) {
        requireConfigurable();
        settings.setSendQueueSize(tasks);
        return this;
    }

    @Override
    public int sendQueueSize() {
        return settings.sendQueueSize();
    }

    @Override
    public Rdma setReceiveQueueSize(int tasks) {
        requireConfigurable();
        settings.setReceiveQueueSize(tasks);
        return this;
    }

    @Override
    public int receiveQueueSize() {
        return settings.receiveQueueSize(tasks.receive.count());
    }

    @Override
    public Rdma setMaxSendBufferListLength(int length) {
        requireConfigurable();
        settings.setMaxSendBufferListLength(length);
        return this;
    }

    @Override
    public int maxSendBufferListLength() {
        return settings.maxSendBufferListLength();
    }

    @Override
    public Rdma setReceiveBufferListLength(int length) {
        requireConfigurable();
        settings.setReceiveBufferListLength(length);
        return this;
    }

    @Override
    public int receiveBufferListLength() {
        return settings.receiveBufferListLength();
    }

    @Override
    public Rdma setPathMtuBytes(int bytes) {
        requireConfigurable();
        settings.setPathMtuBytes(bytes);
        return this;
    }

    @Override
    public int pathMtuBytes() {
        return settings.pathMtuBytes();
    }

    @Override
    public Rdma setGidIndex(int index) {
        requireConfigurable();
        settings.setGidIndex(index);
        return this;
    }

    @Override
    public int gidIndex() {
        return settings.gidIndex();
    }

    @Override
    public Rdma setTransportType(RdmaTransportType type) {
        requireConfigurable();
        settings.setTransportType(type);
        return this;
    }

    @Override
    public RdmaTransportType transportType() {
        return settings.transportType();
    }

    @Override
    public Rdma setMaxConnections(int count) {
        requireConfigurable();
        settings.setMaxConnections(count);
        return this;
    }

    @Override
    public int maxConnections() {
        return settings.maxConnections();
    }

    @Override
    public Rdma setRnrRetries(int retries) {
        requireConfigurable();
        settings.setRnrRetries(retries);
        return this;
    }

    @Override
    public int rnrRetries() {
        return settings.rnrRetries();
    }

    @Override
    public Rdma setRnrTimer(Duration timer) {
        requireConfigurable();
        settings.setRnrTimer(timer);
        return this;
    }

    @Override
    public Duration rnrTimer() {
        return settings.rnrTimer();
    }

    @Override
    public Rdma setConnectTimeout(Duration timeout) {
        requireConfigurable();
        settings.setConnectTimeout(timeout);
        return this;
    }

    @Override
    public Duration connectTimeout() {
        return settings.connectTimeout();
    }

    @Override
    public Rdma setSendTasks(
            int count,
            RdmaTaskCallback<RdmaSendTask> onSuccess,
            RdmaTaskCallback<RdmaSendTask> onFailure) {
        requireConfigurable(RdmaTaskType.SEND);
        tasks.send.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setReceiveTasks(
            int count,
            RdmaTaskCallback<RdmaReceiveTask> onSuccess,
            RdmaTaskCallback<RdmaReceiveTask> onFailure) {
        requireConfigurable(RdmaTaskType.RECEIVE);
        tasks.receive.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setReadTasks(
            int count,
            RdmaTaskCallback<RdmaReadTask> onSuccess,
            RdmaTaskCallback<RdmaReadTask> onFailure) {
        requireConfigurable(RdmaTaskType.READ);
        tasks.read.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setWriteTasks(
            int count,
            RdmaTaskCallback<RdmaWriteTask> onSuccess,
            RdmaTaskCallback<RdmaWriteTask> onFailure) {
        requireConfigurable(RdmaTaskType.WRITE);
        tasks.write.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setSendImmediateTasks(
            int count,
            RdmaTaskCallback<RdmaSendImmediateTask> onSuccess,
            RdmaTaskCallback<RdmaSendImmediateTask> onFailure) {
        requireConfigurable(RdmaTaskType.SEND_IMMEDIATE);
        tasks.sendImmediate.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setWriteImmediateTasks(
            int count,
            RdmaTaskCallback<RdmaWriteImmediateTask> onSuccess,
            RdmaTaskCallback<RdmaWriteImmediateTask> onFailure) {
        requireConfigurable(RdmaTaskType.WRITE_IMMEDIATE);
        tasks.writeImmediate.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setCompareAndSwapTasks(
            int count,
            RdmaTaskCallback<RdmaCompareAndSwapTask> onSuccess,
            RdmaTaskCallback<RdmaCompareAndSwapTask> onFailure) {
        requireConfigurable(RdmaTaskType.ATOMIC_COMPARE_AND_SWAP);
        tasks.compareAndSwap.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setFetchAndAddTasks(
            int count,
            RdmaTaskCallback<RdmaFetchAndAddTask> onSuccess,
            RdmaTaskCallback<RdmaFetchAndAddTask> onFailure) {
        requireConfigurable(RdmaTaskType.ATOMIC_FETCH_AND_ADD);
        tasks.fetchAndAdd.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setRemoteSyncEventGetTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventGetTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventGetTask> onFailure) {
        requireConfigurable(RdmaTaskType.REMOTE_SYNC_EVENT_GET);
        tasks.remoteEventGet.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setRemoteSyncEventNotifySetTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifySetTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifySetTask> onFailure) {
        requireConfigurable(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_SET);
        tasks.remoteEventSet.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public Rdma setRemoteSyncEventNotifyAddTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifyAddTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifyAddTask> onFailure) {
        requireConfigurable(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_ADD);
        tasks.remoteEventAdd.configure(count, onSuccess, onFailure);
        return this;
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
        return startedConnections("export").export(settings.permissions());
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

    // ---- tasks, in RUNNING ----

    @Override
    public RdmaSendTask allocateSend(RdmaConnection connection, @Nullable Buf source) {
        return tasks.send.requireAllocated(tryAllocateSend(connection, source));
    }

    @Override
    public @Nullable RdmaSendTask tryAllocateSend(RdmaConnection connection, @Nullable Buf source) {
        requireAllocating();
        requireOwn(connection);
        SendTask task = tasks.send.tryAllocate();
        return task == null ? null : task.setConnection(connection).setSource(source);
    }

    @Override
    public RdmaReceiveTask allocateReceive(@Nullable Buf destination) {
        return tasks.receive.requireAllocated(tryAllocateReceive(destination));
    }

    @Override
    public @Nullable RdmaReceiveTask tryAllocateReceive(@Nullable Buf destination) {
        requireAllocating();
        ReceiveTask task = tasks.receive.tryAllocate();
        return task == null ? null : task.setDestination(destination);
    }

    @Override
    public RdmaReadTask allocateRead(RdmaConnection connection, Buf source, Buf destination) {
        return tasks.read.requireAllocated(tryAllocateRead(connection, source, destination));
    }

    @Override
    public @Nullable RdmaReadTask tryAllocateRead(
            RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating(connection, source, destination);
        ReadTask task = tasks.read.tryAllocate();
        return task == null ? null : task.use(connection, source, destination);
    }

    @Override
    public RdmaWriteTask allocateWrite(RdmaConnection connection, Buf source, Buf destination) {
        return tasks.write.requireAllocated(tryAllocateWrite(connection, source, destination));
    }

    @Override
    public @Nullable RdmaWriteTask tryAllocateWrite(
            RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating(connection, source, destination);
        WriteTask task = tasks.write.tryAllocate();
        return task == null ? null : task.use(connection, source, destination);
    }

    @Override
    public RdmaSendImmediateTask allocateSendImmediate(
            RdmaConnection connection, @Nullable Buf source, int immediate) {
        return tasks.sendImmediate.requireAllocated(
                tryAllocateSendImmediate(connection, source, immediate));
    }

    @Override
    public @Nullable RdmaSendImmediateTask tryAllocateSendImmediate(
            RdmaConnection connection, @Nullable Buf source, int immediate) {
        requireAllocating();
        requireOwn(connection);
        SendImmediateTask task = tasks.sendImmediate.tryAllocate();
        return task == null
                ? null
                : task.setConnection(connection).setSource(source).setImmediate(immediate);
    }

    @Override
    public RdmaWriteImmediateTask allocateWriteImmediate(
            RdmaConnection connection, Buf source, Buf destination, int immediate) {
        return tasks.writeImmediate.requireAllocated(
                tryAllocateWriteImmediate(connection, source, destination, immediate));
    }

    @Override
    public @Nullable RdmaWriteImmediateTask tryAllocateWriteImmediate(
            RdmaConnection connection, Buf source, Buf destination, int immediate) {
        requireAllocating(connection, source, destination);
        WriteImmediateTask task = tasks.writeImmediate.tryAllocate();
        return task == null ? null : task.use(connection, source, destination).setImmediate(immediate);
    }

    @Override
    public RdmaCompareAndSwapTask allocateCompareAndSwap(
            RdmaConnection connection,
            Buf destination,
            Buf result,
            long compareData,
            long swapData) {
        return tasks.compareAndSwap.requireAllocated(
                tryAllocateCompareAndSwap(connection, destination, result, compareData, swapData));
    }

    @Override
    public @Nullable RdmaCompareAndSwapTask tryAllocateCompareAndSwap(
            RdmaConnection connection,
            Buf destination,
            Buf result,
            long compareData,
            long swapData) {
        requireAllocatingAtomic(connection, destination, result);
        CompareAndSwapTask task = tasks.compareAndSwap.tryAllocate();
        return task == null ? null : task.use(connection, destination, result).setCompareData(compareData).setSwapData(swapData);
    }

    @Override
    public RdmaFetchAndAddTask allocateFetchAndAdd(
            RdmaConnection connection, Buf destination, Buf result, long addData) {
        return tasks.fetchAndAdd.requireAllocated(
                tryAllocateFetchAndAdd(connection, destination, result, addData));
    }

    @Override
    public @Nullable RdmaFetchAndAddTask tryAllocateFetchAndAdd(
            RdmaConnection connection, Buf destination, Buf result, long addData) {
        requireAllocatingAtomic(connection, destination, result);
        FetchAndAddTask task = tasks.fetchAndAdd.tryAllocate();
        return task == null ? null : task.use(connection, destination, result).setAddData(addData);
    }

    @Override
    public RdmaRemoteSyncEventGetTask allocateRemoteSyncEventGet(
            RdmaConnection connection, RemoteSyncEvent event, Buf destination) {
        return tasks.remoteEventGet.requireAllocated(
                tryAllocateRemoteSyncEventGet(connection, event, destination));
    }

    @Override
    public @Nullable RdmaRemoteSyncEventGetTask tryAllocateRemoteSyncEventGet(
            RdmaConnection connection, RemoteSyncEvent event, Buf destination) {
        requireAllocating(connection, event, "destination", destination);
        RemoteSyncEventGetTask task = tasks.remoteEventGet.tryAllocate();
        return task == null ? null : task.use(connection, event, destination);
    }

    @Override
    public RdmaRemoteSyncEventNotifySetTask allocateRemoteSyncEventNotifySet(
            RdmaConnection connection, RemoteSyncEvent event, Buf source) {
        return tasks.remoteEventSet.requireAllocated(
                tryAllocateRemoteSyncEventNotifySet(connection, event, source));
    }

    @Override
    public @Nullable RdmaRemoteSyncEventNotifySetTask tryAllocateRemoteSyncEventNotifySet(
            RdmaConnection connection, RemoteSyncEvent event, Buf source) {
        requireAllocating(connection, event, "source", source);
        RemoteSyncEventNotifySetTask task = tasks.remoteEventSet.tryAllocate();
        return task == null ? null : task.use(connection, event, source);
    }

    @Override
    public RdmaRemoteSyncEventNotifyAddTask allocateRemoteSyncEventNotifyAdd(
            RdmaConnection connection, RemoteSyncEvent event, Buf result, long addData) {
        return tasks.remoteEventAdd.requireAllocated(
                tryAllocateRemoteSyncEventNotifyAdd(connection, event, result, addData));
    }

    @Override
    public @Nullable RdmaRemoteSyncEventNotifyAddTask tryAllocateRemoteSyncEventNotifyAdd(
            RdmaConnection connection, RemoteSyncEvent event, Buf result, long addData) {
        requireAllocating(connection, event, "result", result);
        RemoteSyncEventNotifyAddTask task = tasks.remoteEventAdd.tryAllocate();
        return task == null ? null : task.use(connection, event, result).setAddData(addData);
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
            connections =
                    new ConnectionTable(
                            this,
                            settings.endpointConfig(device(), services(), tasks.receive.count()),
                            Providers.require(device().info()));
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
        return connections().startWait();
    }

    /** Not in STOPPING, where it waits for its tasks alone. */
    @Override
    protected @Nullable String describeAwaited() {
        return state() == ContextState.STOPPING ? null : connections().describeAwaited();
    }

    @Override
    protected boolean onArm() {
        ConnectionTable open = connections;
        return open != null && open.arm();
    }

    @Override
    protected void onDisarm() {
        ConnectionTable open = connections;
        if (open != null) {
            open.disarm();
        }
    }

    @Override
    protected void onRing() {
        ConnectionTable open = connections;
        if (open != null) {
            open.ring();
        }
    }

    @Override
    protected void onDestroy() {
        // Everything is created at start and released at stop.
    }

    private void requireConfigurable(RdmaTaskType type) {
        requireConfigurable();
        if (!capabilities.isSupported(type)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support this type of RDMA tasks: type=%s, device=%s,"
                                + " limit=%s, expected=a device whose RdmaCapabilities support it",
                            type, device().info().pciAddress(), RdmaCapabilities.tasksLimit(type)));
        }
    }

    // ---- for the tasks and connections ----

    RdmaTasks tasks() {
        return tasks;
    }

    RdmaCapabilities capabilities() {
        return capabilities;
    }

    long maxMessageBytes() {
        return capabilities.maxMessageBytes();
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
        ConnectionTable open = connections;
        if (open != null) {
            open.disconnect(connection);
            workAdded();
        }
    }

    /** A connection was established: the first one makes the context RUNNING. */
    void connectionEstablished() {
        if (state() == ContextState.STARTING) {
            started();
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
        if (atomic || settings.maxConnections() == 1) {
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

    /** Called before a task leaves its pool: a task that leaks would block a stop. */
    private void requireAllocating(RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating();
        requireOwn(connection);
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
    }

    private void requireAllocating(
            RdmaConnection connection, RemoteSyncEvent event, String operand, Buf local) {
        requireAllocating();
        requireOwn(connection);
        Arguments.notNull(event, "event");
        Arguments.notNull(local, operand);
    }

    private void requireAllocatingAtomic(RdmaConnection connection, Buf destination, Buf result) {
        requireAllocating();
        requireOwn(connection);
        Arguments.notNull(destination, "destination");
        Arguments.notNull(result, "result");
    }

    private void requireAllocating() {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
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
