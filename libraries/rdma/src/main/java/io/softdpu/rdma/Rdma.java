package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
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
public sealed interface Rdma extends Context permits RdmaContext {
    /** Tasks of one connection's send queue, unless configured. */
    int DEFAULT_SEND_QUEUE_SIZE = 128;

    /** How long a step of connecting waits for the peer's machine, unless configured: 5 s. */
    long DEFAULT_CONNECT_TIMEOUT_NANOS = 5_000_000_000L;

    /** The number of retries that means: without end. The default. */
    int RNR_RETRIES_UNLIMITED = 7;

    /**
     * Makes an instance on a device, which cannot be closed before it.
     *
     * @throws DpuException NOT_SUPPORTED if no provider serves the device
     */
    static Rdma create(Device device) {
        Arguments.notNull(device, "device");
        Providers.require(device.info());
        return new RdmaContext(device);
    }

    // ---- configuration, in IDLE ----

    /**
     * What peers may do through this instance: {@code RDMA_READ}, {@code RDMA_WRITE}, {@code
     * RDMA_ATOMIC}; nothing by default. The submitting side needs none.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if there are {@code PCI_*} flags
     */
    Rdma setPermissions(Permissions permissions);

    /** What peers may do through this instance. */
    Permissions permissions();

    /**
     * How many sends, reads and writes of one connection can be in flight; rounded up to a power of
     * two.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxSendQueueSize()}
     */
    Rdma setSendQueueSize(int tasks);

    /** The size of a connection's send queue: a power of two. */
    int sendQueueSize();

    /**
     * How many connections the instance can have at a time; 1 by default.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxConnections()}
     */
    Rdma setMaxConnections(int count);

    /** How many connections the instance can have at a time. */
    int maxConnections();

    /**
     * How often a send is tried again whose peer has no receive task for it: 0 to 6 times, a
     * millisecond apart, after which it fails and the connection with it; or {@link
     * #RNR_RETRIES_UNLIMITED}, the default: it waits for the receive.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE
     */
    Rdma setRnrRetries(int retries);

    /** How often a send without a receive at the peer is tried again. */
    int rnrRetries();

    /**
     * How long {@link #connect} waits for the peer's machine to answer. Waiting for the peer's
     * program to connect its side is not bounded; stopping ends it.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if it is not positive
     */
    Rdma setConnectTimeout(long timeoutNanos);

    /** How long a step of connecting waits for the peer's machine. */
    long connectTimeoutNanos();

    /**
     * Makes send tasks available. Configuring again replaces; so with the other types.
     *
     * @param count how many can be allocated at a time
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is out of range
     */
    Rdma configureSendTasks(
            int count,
            RdmaTaskCallback<RdmaSendTask> onSuccess,
            RdmaTaskCallback<RdmaSendTask> onFailure);

    /** Makes receive tasks available, up to {@link RdmaCapabilities#maxReceiveTasks()}. */
    Rdma configureReceiveTasks(
            int count,
            RdmaTaskCallback<RdmaReceiveTask> onSuccess,
            RdmaTaskCallback<RdmaReceiveTask> onFailure);

    /** Makes read tasks available. */
    Rdma configureReadTasks(
            int count,
            RdmaTaskCallback<RdmaReadTask> onSuccess,
            RdmaTaskCallback<RdmaReadTask> onFailure);

    /** Makes write tasks available. */
    Rdma configureWriteTasks(
            int count,
            RdmaTaskCallback<RdmaWriteTask> onSuccess,
            RdmaTaskCallback<RdmaWriteTask> onFailure);

    /** Sets who is told of each connection's changes; null for nobody. */
    Rdma setConnectionCallback(@Nullable RdmaConnectionCallback callback);

    // ---- connecting, in STARTING and RUNNING ----

    /**
     * Readies this end of a new connection; its {@linkplain RdmaConnection#blob() blob} is for the
     * peer.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING; FULL if there are as many
     *     connections as configured (one that has ended does not count); NO_MEMORY,
     *     OPERATING_SYSTEM
     */
    RdmaConnection exportConnection();

    /**
     * Connects an exported connection to the peer whose blob this is. Returns at once; progress on
     * both sides establishes it. The peer has to connect its end to this one's blob.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING, or if the connection was connected
     *     before; INVALID_VALUE if the blob is damaged or the connection is another instance's;
     *     UNSUPPORTED_VERSION if it is of a later release; NOT_SUPPORTED if no provider of both
     *     sides reaches the peer (another machine, another fabric folder)
     */
    void connect(byte[] peerBlob, RdmaConnection connection);

    // ---- tasks, in RUNNING ----

    /**
     * Allocates a send task.
     *
     * @param source the buf with the message; null for an empty message
     * @throws DpuException BAD_STATE unless RUNNING, or if the type was not configured; NO_MEMORY
     *     if all are allocated; INVALID_VALUE if the connection is another instance's
     */
    RdmaSendTask allocateSend(RdmaConnection connection, @Nullable Buf source);

    /**
     * Allocates a receive task; the same errors.
     *
     * @param destination the buf that the message is appended to; null if only empty ones are
     *     awaited
     */
    RdmaReceiveTask allocateReceive(@Nullable Buf destination);

    /**
     * Allocates a read task; the same errors.
     *
     * @param source over the peer's memory
     * @param destination over local memory
     */
    RdmaReadTask allocateRead(RdmaConnection connection, Buf source, Buf destination);

    /**
     * Allocates a write task; the same errors.
     *
     * @param source over local memory
     * @param destination over the peer's memory
     */
    RdmaWriteTask allocateWrite(RdmaConnection connection, Buf source, Buf destination);
}
