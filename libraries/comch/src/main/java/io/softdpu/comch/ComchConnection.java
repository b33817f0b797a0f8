package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Connection of one client and one server: the handle for sending messages and for creating
 * producers and consumers.
 *
 * <p>A server gets it in its {@linkplain ComchConnectionCallback connected callback}, a client with
 * {@link ComchClient#connection()}. Thread: that of the client's or server's engine, except where a
 * method states otherwise.
 */
public final class ComchConnection {
    private final EndpointContext<?> endpoint;
    private final EndpointServices services;
    private final String function;
    private final ComchPeer peer;
    private @Nullable Channel channel;
    private volatile @Nullable ConsumerRegistry registry;
    private volatile boolean connected;
    private volatile @Nullable DpuException failure;
    private long userData;
    private @Nullable Object userObject;
    private long sentMessages;
    private long sentBytes;
    private long receivedMessages;
    private long receivedBytes;

    ComchConnection(
            EndpointContext<?> endpoint,
            EndpointServices services,
            String function,
            ComchPeer peer) {
        this.endpoint = endpoint;
        this.services = services;
        this.function = function;
        this.peer = peer;
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
     * Process and user of the peer, for an access check of the program: the Comm Channel itself
     * admits each process of its own user that can open the fabric folder, and no other (cc-040).
     * For a server it is the client's process, also of one that was refused, if its request named a
     * function and came to the server's callback; for a client the process in which the server was
     * started. The same after the end of the connection. Any thread; allocates nothing.
     */
    public ComchPeer peer() {
        return peer;
    }

    /**
     * Whether messages can be sent: it is established, and neither side has begun to disconnect.
     * Any thread.
     */
    public boolean isConnected() {
        return connected;
    }

    /**
     * The failure that ended it or kept it from being established; null while it is open and after
     * an orderly end. Any thread.
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
    public ComchConnection setUserData(long userData) {
        endpoint.requireThread();
        this.userData = userData;
        return this;
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
    public ComchConnection setUserObject(@Nullable Object userObject) {
        endpoint.requireThread();
        this.userObject = userObject;
        return this;
    }

    /**
     * Sends a message: copies it into the peer's receive queue, or into this connection's
     * {@linkplain ComchEndpoint#setSendQueue send queue} while that is full. Messages arrive in the
     * order of sending. {@link #sentMessages()} tells how many were delivered; those that wait when
     * the connection fails are lost.
     *
     * @param message its bytes, copied at once; 0 to {@link ComchEndpoint#maxMessageBytes()}
     * @throws DpuException FULL if the send queue has no room: the writable callback follows;
     *     INVALID_VALUE if the message is null or too long; NOT_CONNECTED if the connection is
     *     ending or has ended; CONNECTION_RESET if the peer has ended; NOT_PERMITTED from another
     *     thread
     */
    public void send(byte[] message) {
        Refusal refusal = offer(message);
        if (refusal != null) {
            throw refusal.exception("messageBytes=" + message.length);
        }
    }

    /**
     * As {@link #send(byte[])}, with a status in place of an exception, for callbacks: an exception
     * of a callback ends a server that does not expect it.
     *
     * @param message its bytes, copied at once
     * @return SUCCESS, or the status that {@link #send(byte[])} throws
     * @throws DpuException INVALID_VALUE if the message is null; NOT_PERMITTED from another thread
     */
    public Status trySend(byte[] message) {
        return Refusal.statusOf(offer(message));
    }

    /**
     * As {@link #trySend(byte[])}, for a message in any memory; allocates nothing, once the send
     * queue has grown to what the program needs.
     *
     * @param source any memory that this thread can read
     * @param sourceOffset offset of the message, in bytes
     * @param lengthBytes its length; 0 for an empty message
     * @return SUCCESS, or the status that {@link #send(byte[])} throws
     * @throws DpuException INVALID_VALUE if the range is not inside the memory, or this thread
     *     cannot read it; NOT_PERMITTED from another thread
     */
    public Status trySend(MemorySegment source, long sourceOffset, int lengthBytes) {
        endpoint.requireThread();
        SendTask.requireInside(source, sourceOffset, lengthBytes);
        return Refusal.statusOf(offer(source, sourceOffset, lengthBytes));
    }

    /**
     * Whether the send queue has room for a message of any length: the next {@link #send} is not
     * refused with FULL. False once the connection ends. If there is no room, the writable callback
     * follows.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public boolean isWritable() {
        endpoint.requireThread();
        return channel != null && channel.isWritable();
    }

    private @Nullable Refusal offer(byte[] message) {
        endpoint.requireThread();
        Arguments.notNull(message, "message");
        return offer(MemorySegment.ofArray(message), 0, message.length);
    }

    private @Nullable Refusal offer(MemorySegment memory, long offset, int length) {
        if (channel == null) {
            return notConnected();
        }
        Refusal refusal = channel.send(memory, offset, length);
        endpoint.workQueued();
        return refusal;
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
        ConsumerRegistry known = registry;
        return known == null ? new int[0] : known.remoteIds();
    }

    /**
     * Begins an orderly disconnect: messages sent before are still delivered, those of the send
     * queue too; new ones are refused. When both sides have finished, or the control timeout has
     * expired, a server's disconnect callback runs and a client passes through STOPPING to IDLE.
     *
     * <p>The {@linkplain ComchEndpoint#setControlTimeout control timeout} is the limit of all of
     * it, so that no peer delays an end: messages that a slow peer has not received by then are
     * lost, and the connection ends with CONNECTION_ABORTED. A program that needs them delivered
     * disconnects when {@link #sentMessages()} counts them, or sets a longer timeout.
     *
     * @return SUCCESS if the disconnect has begun; IN_USE while a producer or consumer of this side
     *     is active; NOT_CONNECTED if the connection is ending or has ended
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public Status disconnect() {
        endpoint.requireThread();
        if (channel == null) {
            return Status.NOT_CONNECTED;
        }
        Status begun = channel.disconnect();
        if (begun == Status.SUCCESS) {
            endpoint.workQueued();
        }
        return begun;
    }

    /** The server's name and the client's function. */
    @Override
    public String toString() {
        return "connection of " + endpoint + " with " + function;
    }

    // ---- for the rest of the package ----

    EndpointContext<?> context() {
        return endpoint;
    }

    /** Services of the client or server for producers, consumers and the channel. Any thread. */
    EndpointServices services() {
        return services;
    }

    void established(Channel open, ConsumerRegistry consumers) {
        channel = open;
        registry = consumers;
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

    @Nullable Refusal send(SendTask task, MemorySegment memory, long offset, int length) {
        return channel == null ? notConnected() : channel.send(task, memory, offset, length);
    }

    /** The refusal of a message, unless it is connected. */
    Refusal notConnected() {
        return Refusal.of(
                Status.NOT_CONNECTED,
                failure,
                "connection is not connected: connection=%s, connected=%b%s, expected=a connection"
                        + " that neither side has ended",
                this,
                connected,
                failureText());
    }

    private String failureText() {
        DpuException known = failure;
        return known == null ? "" : ", failure=" + known.status();
    }

    void delivered(int length) {
        sentMessages++;
        sentBytes += length;
    }

    void received(int length) {
        receivedMessages++;
        receivedBytes += length;
    }

    /** The peer violated the protocol. Inside progress. */
    void protocolViolated(String reason) {
        if (channel != null) {
            channel.protocolViolated(reason);
        }
    }

    /** Whether the bus has noticed that the peer closed its end, for tests. */
    boolean isPeerGone() {
        return channel == null || channel.isPeerGone();
    }

    /**
     * The producers and consumers of an established connection. Any thread.
     *
     * @throws DpuException NOT_CONNECTED if the connection is not established, or is closing
     */
    ConsumerRegistry requireRegistry() {
        ConsumerRegistry known = registry;
        if (known == null || !connected) {
            throw new DpuException(
                    Status.NOT_CONNECTED,
                    Text.format(
                            "connection is not established or is ending: connection=%s,"
                                    + " connected=%b%s",
                            this, connected, failureText()),
                    failure);
        }
        return known;
    }

    /**
     * As {@link #requireRegistry}, for the creation of a producer or consumer. Any thread.
     *
     * @throws DpuException NOT_CONNECTED as for {@link #requireRegistry}; BAD_STATE if the client
     *     or server has no consumer callbacks
     */
    ConsumerRegistry requireFastPath() {
        ConsumerRegistry known = requireRegistry();
        if (!services.hasConsumerCallbacks()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=consumer callbacks, context=%s,"
                                    + " expected=setConsumerCallbacks, before start",
                            endpoint));
        }
        return known;
    }

    /**
     * The producers and consumers of the connection, for the creation of a stream; null if it was
     * not established. Any thread.
     *
     * @throws DpuException BAD_STATE if the client or server does not accept streams
     */
    @Nullable ConsumerRegistry requireStreams() {
        if (!services.acceptsStreams()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "streams are not accepted: context=%s, expected=acceptStreams() before"
                                    + " its start",
                            endpoint));
        }
        return registry;
    }

    /** The failure of a stream that is started on a connection which is not connected. */
    DpuException endedBeforeStream() {
        DpuException known = failure;
        return new DpuException(
                known == null ? Status.CONNECTION_RESET : known.status(),
                Text.format(
                        "connection has ended before its stream: connection=%s, reason=%s,"
                                + " expected=a new connection",
                        this, known == null ? "orderly end" : known.getMessage()),
                known);
    }
}
