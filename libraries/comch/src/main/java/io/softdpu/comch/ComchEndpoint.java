package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;

/**
 * Common interface of {@link ComchServer} and {@link ComchClient}: messages, their configuration,
 * and the connections over which they go.
 *
 * <p>Mandatory before start: send tasks, a message callback, and for a server connection callbacks.
 * Consumer callbacks are needed for the fast path only. Setters are refused with BAD_STATE unless
 * the context is IDLE.
 *
 * <p>A context that stops disconnects in good order: what was sent is delivered, within the
 * {@linkplain #setControlTimeout control timeout}. It is IDLE when its connections have ended and
 * all its tasks have been completed and freed. It cannot be stopped while producers or consumers
 * are active on its connections (IN_USE). Thread: that of the engine.
 */
public sealed interface ComchEndpoint extends Context
        permits ComchServer, ComchClient, EndpointContext {
    /** The server's name: the own one, or that of the server to connect to. */
    String serverName();

    /**
     * Sets the largest message that can be sent and received; the device's maximum if it is not
     * set. Server and client must set the same, or the connection fails with INVALID_VALUE.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    void setMaxMessageSize(int sizeBytes);

    /** The largest message in bytes. */
    int maxMessageSize();

    /**
     * Sets how many messages of a peer may wait to be received, on each connection; 64, or the
     * device's maximum, if it is not set. Each takes about the maximum message size of shared
     * memory.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    void setReceiveQueueSize(int messageCount);

    /** How many messages of a peer may wait to be received. */
    int receiveQueueSize();

    /**
     * Sets how long the peer may take to answer on the control path: to a disconnect, to the
     * registration of a consumer, to the end of one. 5 s if it is not set.
     *
     * @throws DpuException INVALID_VALUE if it is not positive
     */
    void setControlTimeout(long timeoutNanos);

    /** How long the peer may take to answer on the control path, in nanoseconds. */
    long controlTimeoutNanos();

    /**
     * Sets the number of send tasks and who is told when one is done.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess is given the tasks that were delivered
     * @param onFailure is given the others
     * @throws DpuException INVALID_VALUE if the count is out of range
     */
    void setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure);

    /** Sets who is given the messages of all connections. */
    void setMessageCallback(ComchMessageCallback callback);

    /**
     * Sets who is told of the peer's consumers. Without it no producer or consumer can be created
     * on the connections, and the peer's consumers are refused.
     */
    void setConsumerCallbacks(ComchConsumerCallback created, ComchConsumerCallback expired);

    /**
     * Takes a send task from the pool; its message is to be set.
     *
     * @throws DpuException BAD_STATE if the context is not RUNNING; NO_MEMORY if all tasks are in
     *     use; INVALID_VALUE if the connection belongs to another context
     */
    ComchSendTask allocateSendTask(ComchConnection to);
}
