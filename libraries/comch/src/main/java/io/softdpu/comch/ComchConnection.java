package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One client and one server that have found each other: the handle for sending messages and for
 * creating producers and consumers.
 *
 * <p>A server gets it in its connection callback, a client with {@link ComchClient#connection()}.
 * Thread: that of the client's or server's engine, except where a method says otherwise.
 */
public final class ComchConnection {
    private final EndpointContext endpoint;
    private final EndpointServices services;
    private final String function;
    private @Nullable Channel channel;
    private volatile @Nullable ConsumerDirectory directory;
    private volatile boolean connected;
    private volatile @Nullable DpuException failure;
    private long userData;
    private @Nullable Object userObject;
    private long sentMessages;
    private long sentBytes;
    private long receivedMessages;
    private long receivedBytes;

    ComchConnection(EndpointContext endpoint, EndpointServices services, String function) {
        this.endpoint = endpoint;
        this.services = services;
        this.function = function;
    }

    /** The client or server that it belongs to. Any thread. */
    public ComchEndpoint endpoint() {
        return endpoint;
    }

    /** The topology's key of the client's function, for example {@code host/pf0}. Any thread. */
    public String function() {
        return function;
    }

    /**
     * Whether messages can be sent: established, and nobody has begun to disconnect. Any thread.
     */
    public boolean isConnected() {
        return connected;
    }

    /**
     * Why it ended, or was never established; null while it lives and after an orderly end. Any
     * thread.
     */
    public @Nullable DpuException failure() {
        return failure;
    }

    /** The number that the user has attached; 0 at first. */
    public long userData() {
        return userData;
    }

    /**
     * Attaches a number, for example an index.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void setUserData(long userData) {
        endpoint.requireThread();
        this.userData = userData;
    }

    /** The object that the user has attached; null at first. */
    public @Nullable Object userObject() {
        return userObject;
    }

    /**
     * Attaches an object; null for none.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void setUserObject(@Nullable Object userObject) {
        endpoint.requireThread();
        this.userObject = userObject;
    }

    /** Messages that were sent and delivered. */
    public long sentMessages() {
        return sentMessages;
    }

    /** Bytes of the messages that were sent and delivered. */
    public long sentBytes() {
        return sentBytes;
    }

    /** Messages that were received. */
    public long receivedMessages() {
        return receivedMessages;
    }

    /** Bytes of the messages that were received. */
    public long receivedBytes() {
        return receivedBytes;
    }

    /** Ids of the peer's consumers that a producer can send to now, oldest first. Any thread. */
    public int[] remoteConsumers() {
        ConsumerDirectory known = directory;
        return known == null ? new int[0] : known.remoteIds();
    }

    /**
     * Begins the orderly end: what was sent before is still delivered, nothing can be sent any
     * more. When both sides are through, or the control timeout is over, a server's disconnect
     * callback runs and a client goes through STOPPING to IDLE.
     *
     * @return SUCCESS if the end has begun; IN_USE while a producer or consumer of this side is
     *     active; AGAIN if the queue to the peer is full; NOT_CONNECTED if the connection is ending
     *     or has ended
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public Status disconnect() {
        endpoint.requireThread();
        Channel open = channel;
        return open == null ? Status.NOT_CONNECTED : open.disconnect();
    }

    /** The server's name and the client's function. */
    @Override
    public String toString() {
        return "connection of " + endpoint + " with " + function;
    }

    // ---- for the rest of the package ----

    EndpointContext context() {
        return endpoint;
    }

    /** What producers, consumers and the channel need of the client or server. Any thread. */
    EndpointServices services() {
        return services;
    }

    void established(Channel open, ConsumerDirectory consumers) {
        channel = open;
        directory = consumers;
        connected = true;
    }

    void closing() {
        connected = false;
    }

    void ended(@Nullable DpuException reason) {
        failure = reason;
        connected = false;
        channel = null;
    }

    Status send(SendTask task, MemorySegment memory, long offset, int length) {
        Channel open = channel;
        return open == null ? Status.NOT_CONNECTED : open.send(task, memory, offset, length);
    }

    void delivered(int length) {
        sentMessages++;
        sentBytes += length;
    }

    void received(int length) {
        receivedMessages++;
        receivedBytes += length;
    }

    /** The peer did what no correct peer does. Inside progress. */
    void broken(String reason) {
        Channel open = channel;
        if (open != null) {
            open.broken(reason);
        }
    }

    /**
     * Where producers and consumers of an established connection meet. Any thread.
     *
     * @throws DpuException NOT_CONNECTED if it is not established, or ending
     */
    ConsumerDirectory requireDirectory() {
        ConsumerDirectory known = directory;
        if (known == null || !connected) {
            throw new DpuException(
                    Status.NOT_CONNECTED, "connection is not established: connection=" + this);
        }
        return known;
    }

    /**
     * The same, for the creation of a producer or consumer. Any thread.
     *
     * @throws DpuException NOT_CONNECTED as above; BAD_STATE if the client or server has no
     *     consumer callbacks
     */
    ConsumerDirectory requireFastPath() {
        ConsumerDirectory known = requireDirectory();
        if (!services.takesConsumers()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "not configured: item=consumer callbacks, context=" + endpoint);
        }
        return known;
    }
}
