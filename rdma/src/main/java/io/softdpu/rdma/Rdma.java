package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA instance: a Core context whose tasks exchange data with an instance elsewhere (RDMA
 * guide).
 *
 * <p>The order: create, configure, connect to a progress engine, {@linkplain #start start},
 * {@linkplain #exportConnection export} a connection, carry its blob to the peer, give the peer's
 * blob to {@link #connect}, and call progress. The context is STARTING until its first connection
 * is established, then RUNNING, and tasks can be allocated and submitted. {@linkplain #stop
 * Stopping} flushes what is in flight with CONNECTION_ABORTED; the context is IDLE when all tasks
 * have been freed.
 *
 * <p>A peer may read or write memory here only if both the mmap and this instance grant it ({@link
 * #setPermissions}); it does so without this program's help.
 *
 * <p>An instance for one connection, the default, lives and dies with it: if the connection fails,
 * the context moves to STOPPING by itself, and {@link #failure()} says why. One for several loses
 * only the connection that failed. A connection that a peer ends in good order stops neither.
 *
 * <p>Thread: that of the engine. Only the reliable connection (RC) is offered, between machines
 * that a provider reaches directly; nothing is routed.
 */
@SuppressWarnings("exports") // the base is for libraries; users see a Context
public final class Rdma extends ContextBase {
    /** Tasks of one connection's send queue, unless configured. */
    public static final int DEFAULT_SEND_QUEUE_SIZE = 128;

    /** How long a step of connecting waits for the peer's machine, unless configured: 5 s. */
    public static final long DEFAULT_CONNECT_TIMEOUT_NANOS = 5_000_000_000L;

    /** The number of retries that means: without end. The default. */
    public static final int RNR_RETRIES_UNLIMITED = 7;

    private final RdmaCapabilities capabilities;
    private final RdmaTasks tasks;
    private final RdmaSettings settings;
    private @Nullable RdmaConnectionCallback connectionCallback;
    private @Nullable Connections connections;

    private Rdma(Device device) {
        super("rdma " + device.info().ibdevName(), device);
        this.capabilities = RdmaCapabilities.of(device.info());
        this.tasks = new RdmaTasks(capabilities);
        this.settings = new RdmaSettings(capabilities);
    }

    /**
     * Makes an instance on a device, which cannot be closed before it.
     *
     * @throws DpuException NOT_SUPPORTED if no provider serves the device
     */
    public static Rdma create(Device device) {
        Arguments.notNull(device, "device");
        Providers.require(device.info());
        return new Rdma(device);
    }

    // ---- configuration, in IDLE ----

    /**
     * What peers may do through this instance: {@code RDMA_READ}, {@code RDMA_WRITE}, {@code
     * RDMA_ATOMIC}; nothing by default. The submitting side needs none.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if there are {@code PCI_*} flags
     */
    public Rdma setPermissions(Permissions permissions) {
        requireSetUp();
        settings.setPermissions(permissions);
        return this;
    }

    /** What peers may do through this instance. */
    public Permissions permissions() {
        return settings.permissions();
    }

    /**
     * How many sends, reads and writes of one connection can be in flight; rounded up to a power of
     * two.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxSendQueueSize()}
     */
    public Rdma setSendQueueSize(int tasks) {
        requireSetUp();
        settings.setSendQueueSize(tasks);
        return this;
    }

    /** The size of a connection's send queue: a power of two. */
    public int sendQueueSize() {
        return settings.sendQueueSize();
    }

    /**
     * How many connections the instance can have at a time; 1 by default.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxConnections()}
     */
    public Rdma setMaxConnections(int count) {
        requireSetUp();
        settings.setMaxConnections(count);
        return this;
    }

    /** How many connections the instance can have at a time. */
    public int maxConnections() {
        return settings.maxConnections();
    }

    /**
     * How often a send is tried again whose peer has no receive task for it: 0 to 6 times, a
     * millisecond apart, after which it fails and the connection with it; or {@link
     * #RNR_RETRIES_UNLIMITED}, the default: it waits for the receive.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE
     */
    public Rdma setRnrRetries(int retries) {
        requireSetUp();
        settings.setRnrRetries(retries);
        return this;
    }

    /** How often a send without a receive at the peer is tried again. */
    public int rnrRetries() {
        return settings.rnrRetries();
    }

    /**
     * How long {@link #connect} waits for the peer's machine to answer. Waiting for the peer's
     * program to connect its side is not bounded; stopping ends it.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if it is not positive
     */
    public Rdma setConnectTimeout(long timeoutNanos) {
        requireSetUp();
        settings.setConnectTimeoutNanos(timeoutNanos);
        return this;
    }

    /** How long a step of connecting waits for the peer's machine. */
    public long connectTimeoutNanos() {
        return settings.connectTimeoutNanos();
    }

    /**
     * Makes send tasks available. Configuring again replaces; so with the other types.
     *
     * @param count how many can be allocated at a time
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is out of range
     */
    public Rdma configureSendTasks(
            int count,
            RdmaTaskCallback<RdmaSendTask> onSuccess,
            RdmaTaskCallback<RdmaSendTask> onFailure) {
        requireSetUp();
        tasks.send.configure(count, onSuccess, onFailure);
        return this;
    }

    /** Makes receive tasks available, up to {@link RdmaCapabilities#maxReceiveTasks()}. */
    public Rdma configureReceiveTasks(
            int count,
            RdmaTaskCallback<RdmaReceiveTask> onSuccess,
            RdmaTaskCallback<RdmaReceiveTask> onFailure) {
        requireSetUp();
        tasks.receive.configure(count, onSuccess, onFailure);
        return this;
    }

    /** Makes read tasks available. */
    public Rdma configureReadTasks(
            int count,
            RdmaTaskCallback<RdmaReadTask> onSuccess,
            RdmaTaskCallback<RdmaReadTask> onFailure) {
        requireSetUp();
        tasks.read.configure(count, onSuccess, onFailure);
        return this;
    }

    /** Makes write tasks available. */
    public Rdma configureWriteTasks(
            int count,
            RdmaTaskCallback<RdmaWriteTask> onSuccess,
            RdmaTaskCallback<RdmaWriteTask> onFailure) {
        requireSetUp();
        tasks.write.configure(count, onSuccess, onFailure);
        return this;
    }

    /** Sets who is told of each connection's changes; null for nobody. */
    public Rdma setConnectionCallback(@Nullable RdmaConnectionCallback callback) {
        requireSetUp();
        connectionCallback = callback;
        return this;
    }

    // ---- connecting, in STARTING and RUNNING ----

    /**
     * Readies this end of a new connection; its {@linkplain RdmaConnection#blob() blob} is for the
     * peer.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING; FULL if there are as many
     *     connections as configured (one that has ended does not count); NO_MEMORY,
     *     OPERATING_SYSTEM
     */
    public RdmaConnection exportConnection() {
        return startedConnections("export").export(settings.permissions());
    }

    /**
     * Connects an exported connection to the peer whose blob this is. Returns at once; progress on
     * both sides establishes it. The peer has to connect its end to this one's blob.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING, or if the connection was connected
     *     before; INVALID_VALUE if the blob is damaged or the connection is another instance's;
     *     UNSUPPORTED_VERSION if it is of a later release; NOT_SUPPORTED if no provider of both
     *     sides reaches the peer (another machine, another fabric folder)
     */
    public void connect(byte[] peerBlob, RdmaConnection connection) {
        Connections open = startedConnections("connect");
        Arguments.notNull(peerBlob, "peerBlob");
        open.connect(requireOwn(connection), peerBlob);
    }

    // ---- tasks, in RUNNING ----

    /**
     * Allocates a send task.
     *
     * @param source the buf with the message; null for an empty message
     * @throws DpuException BAD_STATE unless RUNNING, or if the type was not configured; NO_MEMORY
     *     if all are allocated; INVALID_VALUE if the connection is another instance's
     */
    public RdmaSendTask allocateSend(RdmaConnection connection, @Nullable Buf source) {
        requireAllocating();
        requireOwn(connection);
        return tasks.send.allocate().setConnection(connection).setSource(source);
    }

    /**
     * Allocates a receive task; the same errors.
     *
     * @param destination the buf that the message is appended to; null if only empty ones are
     *     awaited
     */
    public RdmaReceiveTask allocateReceive(@Nullable Buf destination) {
        requireAllocating();
        return tasks.receive.allocate().setDestination(destination);
    }

    /**
     * Allocates a read task; the same errors.
     *
     * @param source over the peer's memory
     * @param destination over local memory
     */
    public RdmaReadTask allocateRead(RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating(connection, source, destination);
        RdmaReadTask task = tasks.read.allocate();
        task.use(connection, source, destination);
        return task;
    }

    /**
     * Allocates a write task; the same errors.
     *
     * @param source over local memory
     * @param destination over the peer's memory
     */
    public RdmaWriteTask allocateWrite(RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating(connection, source, destination);
        RdmaWriteTask task = tasks.write.allocate();
        task.use(connection, source, destination);
        return task;
    }

    // ---- what the base asks for ----

    @Override
    protected void checkConfiguration() {
        if (!tasks.isAnyConfigured() && connectionCallback == null && !hasStateChangedCallback()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "RDMA instance needs a task type or a callback for events: context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        Connections made =
                new Connections(
                        this,
                        settings.endpointConfig(
                                device(), services(), Math.max(1, tasks.receive.count())));
        tasks.makePools(this);
        connections = made;
        return ContextState.STARTING;
    }

    @Override
    protected boolean onProgress() {
        // In STOPPING nothing is moved any more: onStop, which follows, flushes.
        return state() != ContextState.STOPPING && connections().progress();
    }

    @Override
    protected boolean onStop() {
        Connections open = connections();
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
    protected boolean onArm() {
        Connections open = connections;
        return open != null && open.arm();
    }

    @Override
    protected void onDisarm() {
        Connections open = connections;
        if (open != null) {
            open.disarm();
        }
    }

    @Override
    protected void onRing() {
        Connections open = connections;
        if (open != null) {
            open.ring();
        }
    }

    @Override
    protected void onDestroy() {
        // Everything is made at start and given up at stop.
    }

    // ---- for the tasks and connections ----

    RdmaTasks tasks() {
        return tasks;
    }

    long maxMessageBytes() {
        return capabilities.maxMessageBytes();
    }

    Status postReceive(WorkRequest request) {
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
        Connections open = connections;
        if (open != null) {
            open.disconnect(connection);
        }
    }

    /** A connection is established: the first one makes the context RUNNING. */
    void connectionEstablished() {
        if (state() == ContextState.STARTING) {
            started();
        }
    }

    /** A connection has failed; with only one, that is fatal. */
    void connectionFailed(Status status, String reason) {
        if (settings.maxConnections() == 1) {
            fatal(status, reason);
        }
    }

    void tellConnectionCallback(
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

    private Connections connections() {
        return Objects.requireNonNull(connections, "started");
    }

    private Connections startedConnections(String call) {
        requireOwnerThread();
        Connections open = connections;
        if (open == null || state() == ContextState.STOPPING) {
            throw new DpuException(
                    Status.BAD_STATE,
                    call
                            + " needs a started RDMA instance: context="
                            + this
                            + ", state="
                            + state());
        }
        return open;
    }

    /** Asked before a task leaves its pool: one that was taken for nothing would keep a stop. */
    private void requireAllocating(RdmaConnection connection, Buf source, Buf destination) {
        requireAllocating();
        requireOwn(connection);
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
    }

    private void requireAllocating() {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
    }

    void requireThread() {
        requireOwnerThread();
    }

    private void requireSetUp() {
        requireOwnerThread();
        requireConfigurable();
    }
}
