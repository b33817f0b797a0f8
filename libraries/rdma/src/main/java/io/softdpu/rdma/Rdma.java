package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.spi.PrivateData;
import java.time.Duration;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * RDMA instance: a context of DOCA Core whose tasks exchange data with instances of other processes
 * (RDMA guide).
 *
 * <p>Order of use: create, configure, connect to a progress engine, {@linkplain #start start},
 * {@linkplain #exportConnection export} a connection, transfer its blob to the peer, pass the
 * peer's blob to {@link #connect(byte[], RdmaConnection)}, and call progress. The context is
 * STARTING until its first connection is established, then RUNNING, and tasks can be allocated and
 * submitted. {@linkplain #stop Stopping} flushes the tasks in flight with CONNECTION_ABORTED; the
 * context is IDLE when all tasks have been freed.
 *
 * <pre>{@code
 * engine.connect(rdma);
 * rdma.start();
 * RdmaConnection connection = rdma.exportConnection();
 * rdma.connect(exchange(connection.blob()), connection); // by a channel of the program
 * engine.start(rdma, Duration.ofSeconds(5)); // returns when it is connected
 * }</pre>
 *
 * <p>Instead of exchanging blobs, one side can {@linkplain #listen listen} on a port of its device,
 * and the other {@linkplain #connect(RdmaAddress, byte[]) connect} to an address of that device:
 *
 * <pre>{@code
 * rdma.setConnectionRequestCallback(request -> request.accept(new byte[0])); // before start
 * rdma.listen(13579);
 * engine.start(rdma, Duration.ofSeconds(30)); // returns when the first peer is connected
 *
 * // the other side
 * RdmaAddress listener = RdmaAddress.of(RdmaAddress.Type.IPV4, "127.3.0.1", 13579);
 * RdmaConnection connection = rdma.connect(listener, new byte[0]);
 * engine.start(rdma, Duration.ofSeconds(6)); // returns when it is connected, throws if that fails
 * }</pre>
 *
 * <p>A context that accepts a request is RUNNING before the connection is established, so a wait
 * for RUNNING is not enough to send. {@code engine.start} waits for more: while the instance has
 * one connection, until that is connected; if all have failed before they were established, it
 * throws the failure of the last at once, and the context stays as it is. The program can connect
 * again, and call it again. A listener waits for the next peer instead. With several connections it
 * returns in RUNNING; wait for their states.
 *
 * <p>A peer may read or write memory here only if both the mmap and this instance grant it ({@link
 * #setPermissions}); this program takes no part in it.
 *
 * <p>If the connection of an instance for one connection, the default, fails, the context moves to
 * STOPPING by itself, and {@link #failure()} gives the reason. An instance for several loses only
 * the failed connection, unless an atomic operation has failed with it. Neither is stopped by an
 * orderly disconnect of the peer, if no atomic operation was in flight, or by a connection by
 * address that fails before it was established.
 *
 * <p>Thread: that of the engine. Only the reliable connection (RC) transport is supported, between
 * machines that a provider reaches directly, without routing.
 */
public sealed interface Rdma extends Context permits RdmaContext {
    /** Default size of a connection's send queue, in tasks. */
    int DEFAULT_SEND_QUEUE_SIZE = 128;

    /** Default path MTU, in bytes. */
    int DEFAULT_PATH_MTU_BYTES = 1024;

    /**
     * Default of {@link #setRnrRetries}: 6, the most that is a limit. With the default timer a
     * message waits for 2 s, so that a receiver that is slow by scheduling alone does not lose the
     * connection.
     */
    int DEFAULT_RNR_RETRIES = 6;

    /** Default of {@link #setRnrTimer}: 327.68 ms, a step of the InfiniBand specification. */
    Duration DEFAULT_RNR_TIMER = Duration.ofNanos(327_680_000);

    /** Default of {@link #setConnectTimeout}: 5 s. */
    Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /**
     * Limit of the private data of {@link #connect(RdmaAddress, byte[])}: 56 bytes. These limits
     * are those of connections over a network. An export of memory is longer: the side that
     * connects sends its own in a message, the side that accepts in the data of its answer.
     */
    int MAX_CONNECT_DATA_BYTES = PrivateData.CONNECT_BYTES;

    /**
     * Limit of the private data of {@link RdmaConnectionRequest#accept}: 196 bytes. An export of an
     * mmap, at most 173 bytes, fits.
     */
    int MAX_ACCEPT_DATA_BYTES = PrivateData.ACCEPT_BYTES;

    /** Limit of the private data of {@link RdmaConnectionRequest#reject}: 148 bytes. */
    int MAX_REJECT_DATA_BYTES = PrivateData.REJECT_BYTES;

    /** In place of the name of a provider: the one that the first connection selects. */
    String ANY_PROVIDER = "auto";

    /** Number of retries that means no limit. */
    int RNR_RETRIES_UNLIMITED = 7;

    /**
     * Creates an instance on a device, which cannot be closed while the instance is started.
     *
     * @throws DpuException NOT_SUPPORTED if no provider serves the device; BAD_STATE if it is
     *     closed
     */
    static Rdma create(Device device) {
        Arguments.notNull(device, "device");
        Providers.require(device.info());
        return new RdmaContext(device);
    }

    // ---- configuration, in IDLE ----

    /**
     * Sets the permissions of peers through this instance: {@code RDMA_READ}, {@code RDMA_WRITE},
     * {@code RDMA_ATOMIC}; none by default. The submitting side needs none.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if there are {@code PCI_*} flags
     */
    Rdma setPermissions(Permissions permissions);

    /** The permissions of peers through this instance. */
    Permissions permissions();

    /**
     * Sets the number of tasks of one connection, receives excepted, that can be in flight; rounded
     * up to a power of two.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxSendQueueSize()}, or if its product with {@link
     *     #maxSendBufferListLength()} is beyond {@link RdmaCapabilities#maxSendQueueElements()}
     */
    Rdma setSendQueueSize(int tasks);

    /** The size of a connection's send queue: a power of two. */
    int sendQueueSize();

    /**
     * Sets the number of receive tasks that can be posted at a time; rounded up to a power of two.
     * By default it is the number of receive tasks, within the limit.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxReceiveQueueSize()}
     */
    Rdma setReceiveQueueSize(int tasks);

    /** The number of receive tasks that can be posted at a time. */
    int receiveQueueSize();

    /**
     * Sets the longest local buf list of a task: of a send, read and write, with and without
     * immediate, and of the get and set of a remote sync event. 1 by default. The remote memory of
     * a task is always one buf.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxSendBufferListLength()}, or if its product with {@link
     *     #sendQueueSize()} is beyond {@link RdmaCapabilities#maxSendQueueElements()}
     */
    Rdma setMaxSendBufferListLength(int length);

    /** The longest local buf list of a task other than a receive. */
    int maxSendBufferListLength();

    /**
     * Sets the longest buf list of a receive task; 1 by default.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxReceiveBufferListLength()}
     */
    Rdma setReceiveBufferListLength(int length);

    /** The longest buf list of a receive task. */
    int receiveBufferListLength();

    /**
     * Sets the number of connections that the instance can have at a time; 1 by default.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE beyond {@link
     *     RdmaCapabilities#maxConnections()}
     */
    Rdma setMaxConnections(int count);

    /** The number of connections that the instance can have at a time. */
    int maxConnections();

    /**
     * Sets the path MTU, the largest payload of a packet: 256, 512, 1024, 2048 or 4096 bytes. A
     * connection uses the lower one of its two ends, {@link RdmaConnection#pathMtuBytes()}; with
     * the provider {@code roce} an end has no larger one than fits the MTU of its network
     * interface. Over shared memory, which has no packets, it has no other effect. Without it, that
     * is the one of the environment variable {@code SOFTDPU_RDMA_PATH_MTU}, else {@value
     * #DEFAULT_PATH_MTU_BYTES}.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE for any other value, or below
     *     {@link RdmaCapabilities#minPathMtuBytes()} or beyond {@link
     *     RdmaCapabilities#maxPathMtuBytes()}
     */
    Rdma setPathMtuBytes(int bytes);

    /** The path MTU of this end. */
    int pathMtuBytes();

    /**
     * Sets which address of the device is the GID of the instance, by its index in {@link
     * RdmaCapabilities#gidAddresses()}: 0 for the IPv4 address mapped into IPv6; 1 for the IPv6
     * address. Without it, that is the one of the environment variable {@code
     * SOFTDPU_RDMA_GID_INDEX}, else 0.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE for another index
     */
    Rdma setGidIndex(int index);

    /** The index of the address that is the GID of the instance. */
    int gidIndex();

    /**
     * Sets the provider that serves the instance, by its name in {@link
     * RdmaCapabilities#providers()}. Without it, that is the one that the environment variable
     * {@code SOFTDPU_RDMA_PROVIDER} names, whose name is checked at the start; else {@link
     * #ANY_PROVIDER}. The limits of the instance remain those of all providers.
     *
     * @param name of the only provider to use, which the peer has to use, too; {@link
     *     #ANY_PROVIDER} for the one that the first connection selects
     * @throws DpuException BAD_STATE unless IDLE; NOT_FOUND if no provider of this name serves the
     *     device, naming those that do
     */
    Rdma setProvider(String name);

    /**
     * A snapshot of what the provider of the connections has counted for the device, of all
     * instances of this process: numbers by name, in an order that does not change. Which there are
     * depends on the provider, and {@code shm} has none; {@link RdmaConnection#counters()} has
     * those of one connection. Empty before a provider is selected, and after the stop. A call may
     * wait for a batch of packets and makes a map, so it is not for the data path.
     *
     * @return unmodifiable
     * @throws DpuException NOT_PERMITTED from another thread
     */
    SequencedMap<String, Long> deviceCounters();

    /** The name of the provider that was set, {@link #ANY_PROVIDER} if none was. */
    String provider();

    /**
     * Sets the transport.
     *
     * @throws DpuException BAD_STATE unless IDLE; NOT_SUPPORTED for any but {@link
     *     RdmaTransportType#RC}
     */
    Rdma setTransportType(RdmaTransportType type);

    /** The transport: {@link RdmaTransportType#RC}. */
    RdmaTransportType transportType();

    /**
     * Sets the number of retries of a send, or write with immediate, whose peer has no receive task
     * for it: 0 to 6 retries, each after the peer's {@linkplain #setRnrTimer RNR timer}; {@link
     * #DEFAULT_RNR_RETRIES} by default. When they are used up the task fails with IO_FAILED and the
     * connection with it, which stops an instance for one connection (RDMA guide, send task). With
     * {@link #RNR_RETRIES_UNLIMITED} a message waits for a receive as long as the connection lasts.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE
     */
    Rdma setRnrRetries(int retries);

    /** The number of retries of a send that finds no receive task at the peer. */
    int rnrRetries();

    /**
     * Sets the time after which a peer repeats a message that has found no receive task here,
     * rounded up to a step of the InfiniBand specification: 0.01 to 655.36 ms; {@link
     * #DEFAULT_RNR_TIMER} by default.
     *
     * <p>Over shared memory a receive that is posted meanwhile is used at once, and the timer only
     * limits the wait; a peer whose retries are not limited does not use it. Over a network the
     * sender knows nothing of receives, and a message that has come too early is repeated after the
     * whole timer: with a long one, each of them costs that time. A receiver that posts its
     * receives ahead of the messages pays nothing; one that may be late for a moment sets a timer
     * of the length of that moment, and its peers more retries.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if it is not positive, or longer
     *     than the last step
     */
    Rdma setRnrTimer(Duration timer);

    /** The time after which a peer repeats a message that has found no receive task here. */
    Duration rnrTimer();

    /**
     * Sets the time that {@link #connect(byte[], RdmaConnection)} waits for a reply of the peer's
     * machine. The wait for the peer's program to connect its side has no limit; stopping ends it.
     * For a connection by address it is the time from {@link #connect(RdmaAddress, byte[])}, or
     * from {@link RdmaConnectionRequest#accept}, until it is established, the peer's program
     * included.
     *
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if it is not positive
     */
    Rdma setConnectTimeout(Duration timeout);

    /**
     * The limit of the time that connecting to a blob waits for a reply of the peer's machine, and
     * of the whole time of connecting by address, the peer's program included.
     */
    Duration connectTimeout();

    /**
     * Sets the number of send tasks and the callbacks for their completion. A second call replaces
     * the first, also for the other types.
     *
     * @param count number of tasks that can be allocated at a time, up to {@link
     *     RdmaCapabilities#maxTasks}
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is out of range;
     *     NOT_SUPPORTED if the device does not support tasks of this type
     */
    default Rdma setSendTasks(
            int count,
            RdmaTaskCallback<RdmaSendTask> onSuccess,
            RdmaTaskCallback<RdmaSendTask> onFailure) {
        return context().configure(SendTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the receive tasks, up to {@link RdmaCapabilities#maxReceiveTasks()}. */
    default Rdma setReceiveTasks(
            int count,
            RdmaTaskCallback<RdmaReceiveTask> onSuccess,
            RdmaTaskCallback<RdmaReceiveTask> onFailure) {
        return context().configure(ReceiveTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the read tasks. */
    default Rdma setReadTasks(
            int count,
            RdmaTaskCallback<RdmaReadTask> onSuccess,
            RdmaTaskCallback<RdmaReadTask> onFailure) {
        return context().configure(ReadTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the write tasks. */
    default Rdma setWriteTasks(
            int count,
            RdmaTaskCallback<RdmaWriteTask> onSuccess,
            RdmaTaskCallback<RdmaWriteTask> onFailure) {
        return context().configure(WriteTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the send with immediate tasks. */
    default Rdma setSendImmediateTasks(
            int count,
            RdmaTaskCallback<RdmaSendImmediateTask> onSuccess,
            RdmaTaskCallback<RdmaSendImmediateTask> onFailure) {
        return context().configure(SendImmediateTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the write with immediate tasks. */
    default Rdma setWriteImmediateTasks(
            int count,
            RdmaTaskCallback<RdmaWriteImmediateTask> onSuccess,
            RdmaTaskCallback<RdmaWriteImmediateTask> onFailure) {
        return context().configure(WriteImmediateTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the compare and swap tasks. */
    default Rdma setCompareAndSwapTasks(
            int count,
            RdmaTaskCallback<RdmaCompareAndSwapTask> onSuccess,
            RdmaTaskCallback<RdmaCompareAndSwapTask> onFailure) {
        return context().configure(CompareAndSwapTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the fetch and add tasks. */
    default Rdma setFetchAndAddTasks(
            int count,
            RdmaTaskCallback<RdmaFetchAndAddTask> onSuccess,
            RdmaTaskCallback<RdmaFetchAndAddTask> onFailure) {
        return context().configure(FetchAndAddTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the remote sync event get tasks. */
    default Rdma setRemoteSyncEventGetTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventGetTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventGetTask> onFailure) {
        return context().configure(RemoteSyncEventGetTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the remote sync event notify set tasks. */
    default Rdma setRemoteSyncEventNotifySetTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifySetTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifySetTask> onFailure) {
        return context().configure(RemoteSyncEventNotifySetTask.TYPE, count, onSuccess, onFailure);
    }

    /** Sets the remote sync event notify add tasks. */
    default Rdma setRemoteSyncEventNotifyAddTasks(
            int count,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifyAddTask> onSuccess,
            RdmaTaskCallback<RdmaRemoteSyncEventNotifyAddTask> onFailure) {
        return context().configure(RemoteSyncEventNotifyAddTask.TYPE, count, onSuccess, onFailure);
    }

    /**
     * Sets the callback for state changes of connections; null for none.
     *
     * @throws DpuException BAD_STATE unless IDLE
     */
    Rdma setConnectionCallback(@Nullable RdmaConnectionCallback callback);

    /**
     * Sets the callback for requests of peers that connect to a port of {@link #listen}; null for
     * none.
     *
     * @throws DpuException BAD_STATE unless IDLE
     */
    Rdma setConnectionRequestCallback(@Nullable RdmaConnectionRequestCallback callback);

    // ---- connecting, in STARTING and RUNNING ----

    /**
     * Creates this end of a new connection; its {@linkplain RdmaConnection#blob() blob} has to be
     * transferred to the peer.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING; FULL if there are as many
     *     connections as configured, not counting ended ones; NO_MEMORY, OPERATING_SYSTEM
     */
    RdmaConnection exportConnection();

    /**
     * Connects an exported connection to the peer that exported the blob. Does not wait for the
     * peer: progress on both sides establishes the connection. Over a network, the first call for a
     * device maps the memory that its process has imported and exported again, half a second per
     * GiB. The peer has to connect its end to this connection's blob.
     *
     * <p>The blob may be of another connection of this instance, or, but for a network, of this
     * connection itself: a loopback, with which the instance is its own peer. What is sent on it is
     * received here, by a receive task of this instance; both ends end together.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING, or if the connection was connected
     *     before; INVALID_VALUE if the blob is damaged, the connection is another instance's, or
     *     over a network the blob is its own; UNSUPPORTED_VERSION if it is of another version;
     *     NOT_SUPPORTED if no provider of both sides reaches the peer (another machine, another
     *     fabric folder); NO_MEMORY
     */
    void connect(byte[] peerBlob, RdmaConnection connection);

    /**
     * Listens on a port, for peers that connect to one of the addresses of this instance's device.
     * An instance may listen on several ports, while it connects otherwise too. Each request goes
     * to the callback of {@link #setConnectionRequestCallback}; the library rejects those beyond
     * {@link #maxConnections()}, counting connections and requests that wait. The context stays
     * STARTING until it accepts one.
     *
     * <p>Over a network the peer may be a program of rdma_cm that is none of softdpu. Then three
     * things differ, here and for {@link #connect(RdmaAddress, byte[])}:
     *
     * <ul>
     *   <li>Private data has the full length of its message, behind the program's with zero bytes
     *       or whatever the peer's system puts there, since messages do not state a length: 56
     *       bytes of a request, 196 of an acceptance, 148 of a rejection. The peer gets this side's
     *       data in the same way.
     *   <li>What the peer grants is not known, and counts as all: a task that it does not permit is
     *       submitted, and fails by the peer's refusal (a NAK), which ends the connection:
     *       NOT_PERMITTED, or UNEXPECTED where the queue pair of the peer lacks the right. A task
     *       that the instance of a peer of softdpu does not grant is refused at submission, and
     *       ends nothing.
     *   <li>The identity of the peer is its address alone: any program at that address may be it,
     *       and nothing shows that it is the same one as before.
     * </ul>
     *
     * <p>Its request is rejected without being shown if it asks for a larger path MTU than this
     * instance, or its interface, has: no acceptance would lower it.
     *
     * @param port 1 to 65,535; each device has ports of its own
     * @throws DpuException BAD_STATE unless STARTING or RUNNING, or without that callback;
     *     INVALID_VALUE if it is no port; ALREADY_EXIST if the port is in use, naming the holder;
     *     TIME_OUT if another process examines its file for a second, inside progress at once;
     *     NO_MEMORY, OPERATING_SYSTEM
     */
    void listen(int port);

    /**
     * Stops listening on a port. Requests in the hands of the program can still be answered, and
     * connections stay.
     *
     * @throws DpuException BAD_STATE unless STARTING or RUNNING; INVALID_VALUE if it is no port;
     *     NOT_FOUND if this instance does not listen on it
     */
    void stopListening(int port);

    /**
     * Connects to a listener by its address. Returns at once, with a connection that is {@linkplain
     * RdmaConnection.State#CONNECTING connecting}; progress on both sides establishes it. This side
     * may be CONNECTED as soon as the listener has accepted, before that side is. Wait by {@code
     * engine.start}, or for another state of the connection, not for RUNNING, which does not come
     * if that fails.
     *
     * <p>If that fails the connection is {@linkplain RdmaConnection.State#FAILED failed}, and the
     * context does not change, also with one connection only: the call can be repeated. Only the
     * provider of the instance stays selected once a listener has accepted. {@link
     * RdmaConnection#failure()} is NOT_FOUND if nothing listens there; CONNECTION_ABORTED if the
     * listener has rejected it, with {@link RdmaConnection#peerPrivateData()}; TIME_OUT if it was
     * not established within {@link #connectTimeout()}; CONNECTION_RESET if the listener's process
     * ended meanwhile, or if it stopped listening before it took the request; NOT_PERMITTED if that
     * is another user's. What differs of a listener that is none of softdpu is said at {@link
     * #listen}.
     *
     * @param privateData for the listener's program, at most {@link #MAX_CONNECT_DATA_BYTES}: 56,
     *     too few for an export of memory
     * @throws DpuException BAD_STATE unless STARTING or RUNNING; INVALID_VALUE if there is too much
     *     data; NOT_SUPPORTED if no provider reaches the address; ALREADY_EXIST if only a network
     *     reaches it and its UDP port 4791 is held here by another process, naming that; FULL if
     *     there are as many connections as configured, not counting ended ones; NO_MEMORY,
     *     OPERATING_SYSTEM
     */
    RdmaConnection connect(RdmaAddress address, byte[] privateData);

    // ---- tasks, in RUNNING ----

    /**
     * Allocates a send task.
     *
     * @param source the list with the message, by its head; null for an empty message
     * @throws DpuException BAD_STATE unless RUNNING, or if the type was not configured; NO_MEMORY
     *     if all are allocated; INVALID_VALUE if the connection is another instance's
     */
    default RdmaSendTask allocateSend(RdmaConnection connection, @Nullable Buf source) {
        return context().requireAllocated(SendTask.TYPE, tryAllocateSend(connection, source));
    }

    /**
     * Does the same as {@link #allocateSend}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSend}, without NO_MEMORY
     */
    default @Nullable RdmaSendTask tryAllocateSend(
            RdmaConnection connection, @Nullable Buf source) {
        return context().tryAllocateMessage(SendTask.TYPE, connection, source);
    }

    /**
     * Allocates a receive task; errors as for {@link #allocateSend}.
     *
     * @param destination the list that the message is appended to, by its head; null to receive
     *     only empty messages and writes with immediate
     */
    default RdmaReceiveTask allocateReceive(@Nullable Buf destination) {
        return context().requireAllocated(ReceiveTask.TYPE, tryAllocateReceive(destination));
    }

    /**
     * Does the same as {@link #allocateReceive}, but returns null if all tasks are allocated. Costs
     * no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateReceive}, without NO_MEMORY
     */
    @Nullable RdmaReceiveTask tryAllocateReceive(@Nullable Buf destination);

    /**
     * Allocates a read task; errors as for {@link #allocateSend}.
     *
     * @param source over the peer's memory
     * @param destination over local memory
     */
    default RdmaReadTask allocateRead(RdmaConnection connection, Buf source, Buf destination) {
        return context()
                .requireAllocated(ReadTask.TYPE, tryAllocateRead(connection, source, destination));
    }

    /**
     * Does the same as {@link #allocateRead}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateRead}, without NO_MEMORY
     */
    default @Nullable RdmaReadTask tryAllocateRead(
            RdmaConnection connection, Buf source, Buf destination) {
        return context().tryAllocateRemote(ReadTask.TYPE, connection, source, destination);
    }

    /**
     * Allocates a write task; errors as for {@link #allocateSend}.
     *
     * @param source over local memory
     * @param destination over the peer's memory
     */
    default RdmaWriteTask allocateWrite(RdmaConnection connection, Buf source, Buf destination) {
        return context()
                .requireAllocated(
                        WriteTask.TYPE, tryAllocateWrite(connection, source, destination));
    }

    /**
     * Does the same as {@link #allocateWrite}, but returns null if all tasks are allocated. Costs
     * no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWrite}, without NO_MEMORY
     */
    default @Nullable RdmaWriteTask tryAllocateWrite(
            RdmaConnection connection, Buf source, Buf destination) {
        return context().tryAllocateRemote(WriteTask.TYPE, connection, source, destination);
    }

    /**
     * Allocates a send with immediate task; errors as for {@link #allocateSend}.
     *
     * @param source the list with the message, by its head; null for an empty message
     * @param immediate the value for the peer's receive
     */
    default RdmaSendImmediateTask allocateSendImmediate(
            RdmaConnection connection, @Nullable Buf source, int immediate) {
        return context()
                .requireAllocated(
                        SendImmediateTask.TYPE,
                        tryAllocateSendImmediate(connection, source, immediate));
    }

    /**
     * Does the same as {@link #allocateSendImmediate}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSendImmediate}, without NO_MEMORY
     */
    default @Nullable RdmaSendImmediateTask tryAllocateSendImmediate(
            RdmaConnection connection, @Nullable Buf source, int immediate) {
        RdmaSendImmediateTask task =
                context().tryAllocateMessage(SendImmediateTask.TYPE, connection, source);
        return task == null ? null : task.setImmediate(immediate);
    }

    /**
     * Allocates a write with immediate task; errors as for {@link #allocateSend}.
     *
     * @param source over local memory
     * @param destination over the peer's memory
     * @param immediate the value for the peer's receive
     */
    default RdmaWriteImmediateTask allocateWriteImmediate(
            RdmaConnection connection, Buf source, Buf destination, int immediate) {
        return context()
                .requireAllocated(
                        WriteImmediateTask.TYPE,
                        tryAllocateWriteImmediate(connection, source, destination, immediate));
    }

    /**
     * Does the same as {@link #allocateWriteImmediate}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateWriteImmediate}, without NO_MEMORY
     */
    default @Nullable RdmaWriteImmediateTask tryAllocateWriteImmediate(
            RdmaConnection connection, Buf source, Buf destination, int immediate) {
        RdmaWriteImmediateTask task =
                context()
                        .tryAllocateRemote(
                                WriteImmediateTask.TYPE, connection, source, destination);
        return task == null ? null : task.setImmediate(immediate);
    }

    /**
     * Allocates a compare and swap task; errors as for {@link #allocateSend}.
     *
     * @param destination over the peer's memory
     * @param result over local memory
     * @param compareData the number that the bytes are compared with
     * @param swapData the number that replaces them if they are equal
     */
    default RdmaCompareAndSwapTask allocateCompareAndSwap(
            RdmaConnection connection,
            Buf destination,
            Buf result,
            long compareData,
            long swapData) {
        return context()
                .requireAllocated(
                        CompareAndSwapTask.TYPE,
                        tryAllocateCompareAndSwap(
                                connection, destination, result, compareData, swapData));
    }

    /**
     * Does the same as {@link #allocateCompareAndSwap}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateCompareAndSwap}, without NO_MEMORY
     */
    default @Nullable RdmaCompareAndSwapTask tryAllocateCompareAndSwap(
            RdmaConnection connection,
            Buf destination,
            Buf result,
            long compareData,
            long swapData) {
        RdmaCompareAndSwapTask task =
                context()
                        .tryAllocateAtomic(
                                CompareAndSwapTask.TYPE, connection, destination, result);
        return task == null ? null : task.setCompareData(compareData).setSwapData(swapData);
    }

    /**
     * Allocates a fetch and add task; errors as for {@link #allocateSend}.
     *
     * @param destination over the peer's memory
     * @param result over local memory
     * @param addData the number to add
     */
    default RdmaFetchAndAddTask allocateFetchAndAdd(
            RdmaConnection connection, Buf destination, Buf result, long addData) {
        return context()
                .requireAllocated(
                        FetchAndAddTask.TYPE,
                        tryAllocateFetchAndAdd(connection, destination, result, addData));
    }

    /**
     * Does the same as {@link #allocateFetchAndAdd}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateFetchAndAdd}, without NO_MEMORY
     */
    default @Nullable RdmaFetchAndAddTask tryAllocateFetchAndAdd(
            RdmaConnection connection, Buf destination, Buf result, long addData) {
        RdmaFetchAndAddTask task =
                context().tryAllocateAtomic(FetchAndAddTask.TYPE, connection, destination, result);
        return task == null ? null : task.setAddData(addData);
    }

    /**
     * Allocates a remote sync event get task; errors as for {@link #allocateSend}.
     *
     * @param event of the peer
     * @param destination the list that the value is appended to, by its head
     */
    default RdmaRemoteSyncEventGetTask allocateRemoteSyncEventGet(
            RdmaConnection connection, RemoteSyncEvent event, Buf destination) {
        return context()
                .requireAllocated(
                        RemoteSyncEventGetTask.TYPE,
                        tryAllocateRemoteSyncEventGet(connection, event, destination));
    }

    /**
     * Does the same as {@link #allocateRemoteSyncEventGet}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateRemoteSyncEventGet}, without NO_MEMORY
     */
    default @Nullable RdmaRemoteSyncEventGetTask tryAllocateRemoteSyncEventGet(
            RdmaConnection connection, RemoteSyncEvent event, Buf destination) {
        return context()
                .tryAllocateOnEvent(
                        RemoteSyncEventGetTask.TYPE, connection, event, "destination", destination);
    }

    /**
     * Allocates a remote sync event notify set task; errors as for {@link #allocateSend}.
     *
     * @param event of the peer
     * @param source the list with the eight bytes of the value, by its head
     */
    default RdmaRemoteSyncEventNotifySetTask allocateRemoteSyncEventNotifySet(
            RdmaConnection connection, RemoteSyncEvent event, Buf source) {
        return context()
                .requireAllocated(
                        RemoteSyncEventNotifySetTask.TYPE,
                        tryAllocateRemoteSyncEventNotifySet(connection, event, source));
    }

    /**
     * Does the same as {@link #allocateRemoteSyncEventNotifySet}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateRemoteSyncEventNotifySet}, without NO_MEMORY
     */
    default @Nullable RdmaRemoteSyncEventNotifySetTask tryAllocateRemoteSyncEventNotifySet(
            RdmaConnection connection, RemoteSyncEvent event, Buf source) {
        return context()
                .tryAllocateOnEvent(
                        RemoteSyncEventNotifySetTask.TYPE, connection, event, "source", source);
    }

    /**
     * Allocates a remote sync event notify add task; errors as for {@link #allocateSend}.
     *
     * @param event of the peer
     * @param result over local memory
     * @param addData the number to add
     */
    default RdmaRemoteSyncEventNotifyAddTask allocateRemoteSyncEventNotifyAdd(
            RdmaConnection connection, RemoteSyncEvent event, Buf result, long addData) {
        return context()
                .requireAllocated(
                        RemoteSyncEventNotifyAddTask.TYPE,
                        tryAllocateRemoteSyncEventNotifyAdd(connection, event, result, addData));
    }

    /**
     * Does the same as {@link #allocateRemoteSyncEventNotifyAdd}, but returns null if all tasks are
     * allocated. Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateRemoteSyncEventNotifyAdd}, without NO_MEMORY
     */
    default @Nullable RdmaRemoteSyncEventNotifyAddTask tryAllocateRemoteSyncEventNotifyAdd(
            RdmaConnection connection, RemoteSyncEvent event, Buf result, long addData) {
        RdmaRemoteSyncEventNotifyAddTask task =
                context()
                        .tryAllocateOnEvent(
                                RemoteSyncEventNotifyAddTask.TYPE,
                                connection,
                                event,
                                "result",
                                result);
        return task == null ? null : task.setAddData(addData);
    }

    /**
     * Would return the handle of this instance for kernels on a data path accelerator
     * (doca_rdma_get_dpa_handle), which no machine here has: the data path is on the CPU.
     *
     * @throws DpuException NOT_SUPPORTED
     */
    long dpaHandle();

    @Override
    Rdma setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    Rdma setDataPathLocation(DataPathLocation location);

    @Override
    Rdma setUserData(long userData);

    @Override
    Rdma setUserObject(@Nullable Object userObject);

    /** This instance as its task types see it. */
    private RdmaContext context() {
        return (RdmaContext) this;
    }
}
