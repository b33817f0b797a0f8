package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Common interface of {@link ComchServer} and {@link ComchClient}: configuration, messages, and
 * their tasks.
 *
 * <p>Mandatory before start: send tasks or a send queue, a message callback, and for a server a
 * connected callback; none of these where {@linkplain #acceptStreams() streams are accepted}.
 * Consumer callbacks, or the acceptance of streams, are needed for the fast path only. Setters fail
 * with BAD_STATE unless the context is IDLE.
 *
 * <p>A context that stops disconnects in an orderly way: messages that were sent are delivered,
 * within the {@linkplain #setControlTimeout control timeout}. It is IDLE when its connections have
 * ended and all its tasks have been completed and freed. It cannot be stopped while producers or
 * consumers are active on its connections (IN_USE). Thread: that of the engine.
 */
public sealed interface ComchEndpoint extends Context
        permits ComchServer, ComchClient, EndpointContext {
    /** Default of the {@linkplain #setControlTimeout control timeout}: 5 s. */
    Duration DEFAULT_CONTROL_TIMEOUT = Duration.ofSeconds(5);

    /** Default of the {@linkplain #setSendQueue send queue}: 1,024 messages per connection. */
    int DEFAULT_SEND_QUEUE_MESSAGES = 1024;

    /** Limit of messages of the {@linkplain #setSendQueue send queue} of a connection. */
    int MAX_SEND_QUEUE_MESSAGES = 1 << 20;

    /** Default of the {@linkplain #setSendQueue send queue}: 1 MiB per connection. */
    int DEFAULT_SEND_QUEUE_BYTES = 1 << 20;

    /** The server's name: its own, or that of the server to connect to. */
    String serverName();

    /**
     * Sets the largest message in bytes that can be sent and received; the device's maximum by
     * default. Server and client must set the same, or the connection fails with INVALID_VALUE.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    ComchEndpoint setMaxMessageBytes(int sizeBytes);

    /** The largest message in bytes. */
    int maxMessageBytes();

    /**
     * Sets the number of messages of a peer that may wait to be received, per connection; 64 by
     * default, or the device's maximum if that is less. Each takes about the maximum message size
     * of shared memory.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    ComchEndpoint setReceiveQueueSize(int messageCount);

    /** The number of messages of a peer that may wait to be received, per connection. */
    int receiveQueueSize();

    /**
     * Sets the time within which the peer must reply on the control path: to a disconnect, for
     * which it receives what was sent before, to the registration of a consumer, to the end of one;
     * {@link #DEFAULT_CONTROL_TIMEOUT} by default.
     *
     * <p>{@link #close()} gives up with IN_USE after 6 s of waiting for a peer, whatever this time
     * is. Where it is longer than 5 s, {@linkplain io.softdpu.core.execution.ProgressEngine#stop
     * stop} each context of the endpoint within a timeout that is longer still, and close it then.
     *
     * @throws DpuException INVALID_VALUE if it is not positive
     */
    ComchEndpoint setControlTimeout(Duration timeout);

    /** The time within which the peer must reply on the control path. */
    Duration controlTimeout();

    /**
     * Sets the number of send tasks and the callbacks for their completion.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess called with each task whose message was delivered
     * @param onFailure called with each task that failed
     * @throws DpuException INVALID_VALUE if the count is out of range
     */
    ComchEndpoint setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure);

    /**
     * Sets the limits of the queue of each connection for {@link ComchConnection#send}, and makes
     * send tasks optional. The memory of a queue grows to what was needed, and is released with the
     * connection. An orderly end delivers what waits within the {@linkplain #setControlTimeout
     * control timeout}: a long queue to a slow peer needs a longer one.
     *
     * @param messageCount most messages that wait, 1 to 1,048,576, {@link
     *     #MAX_SEND_QUEUE_MESSAGES}; {@link #DEFAULT_SEND_QUEUE_MESSAGES} by default
     * @param sizeBytes most bytes of these messages, from the device's maximum message size to 1
     *     GiB; {@link #DEFAULT_SEND_QUEUE_BYTES} by default
     * @throws DpuException INVALID_VALUE if one is out of range
     */
    ComchEndpoint setSendQueue(int messageCount, int sizeBytes);

    /** Limit of the messages that wait in the send queue of a connection. */
    int sendQueueMessages();

    /** Limit of the bytes that wait in the send queue of a connection. */
    int sendQueueBytes();

    /**
     * Sets the callback for connections that have room for messages again: called once after {@link
     * ComchConnection#send} was refused with FULL or {@link ComchConnection#isWritable()} was
     * false, when half of the queue has been sent. Null for none.
     */
    ComchEndpoint setWritableCallback(@Nullable ComchConnectionCallback callback);

    /**
     * Sets the callback for messages of all connections. The memory of a message is valid during
     * the call only.
     */
    ComchEndpoint setMessageCallback(ComchMessageCallback callback);

    /**
     * Sets the callbacks for the peer's consumers. Without them no producer or consumer can be
     * created on the connections, and the peer's consumers are refused.
     */
    ComchEndpoint setConsumerCallbacks(
            ComchConsumerCallback created, ComchConsumerCallback expired);

    /**
     * Accepts streams: a {@link ComchStream} can be created on each connection, and the peer's can
     * reach it. Allows the peer to have this process map memory, within the limits of the machine.
     * Not needed where consumer callbacks are set. Makes send tasks, message callback and connected
     * callback optional; messages without a callback are received and dropped.
     */
    ComchEndpoint acceptStreams();

    /**
     * Takes a send task from the pool; its message has to be set.
     *
     * @throws DpuException BAD_STATE if the context is not RUNNING; NO_MEMORY if all tasks are in
     *     use; INVALID_VALUE if the connection belongs to another context
     */
    ComchSendTask allocateSendTask(ComchConnection to);

    /**
     * Does the same as {@link #allocateSendTask}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateSendTask}, without NO_MEMORY
     */
    @Nullable ComchSendTask tryAllocateSendTask(ComchConnection to);

    @Override
    ComchEndpoint setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchEndpoint setDataPathLocation(DataPathLocation location);

    @Override
    ComchEndpoint setUserData(long userData);

    @Override
    ComchEndpoint setUserObject(@Nullable Object userObject);
}
