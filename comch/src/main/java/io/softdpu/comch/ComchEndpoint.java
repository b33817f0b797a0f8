package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.TaskPool;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.engine.PayloadCopy;
import io.softdpu.fabric.link.EngineWaiter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ComchServer} and a {@link ComchClient} have in common: messages, their
 * configuration, and the connections over which they go.
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
public abstract sealed class ComchEndpoint extends ContextBase permits ComchServer, ComchClient {
    private static final int DEFAULT_RECEIVE_QUEUE = 64;
    private static final long DEFAULT_CONTROL_TIMEOUT_NANOS = 5_000_000_000L;
    private static final long MESSAGE_ALIGNMENT_BYTES = 64;

    private final String serverName;
    private final ComchCapabilities capabilities;
    private final List<Channel> channels = new ArrayList<>();
    private int maxMessageBytes;
    private int receiveQueue;
    private volatile long controlTimeoutNanos = DEFAULT_CONTROL_TIMEOUT_NANOS;
    private int sendTasks;
    private @Nullable ComchTaskCallback<ComchSendTask> sent;
    private @Nullable ComchTaskCallback<ComchSendTask> failed;
    private @Nullable ComchMessageCallback messageCallback;
    private volatile @Nullable ComchConsumerCallback consumerCreated;
    private @Nullable ComchConsumerCallback consumerExpired;
    private @Nullable TaskPool<ComchSendTask> pool;
    private MemorySegment scratch = MemorySegment.NULL;
    private @Nullable MemorySegment[] messages = {};

    ComchEndpoint(Device device, String serverName) {
        super("comch client " + serverName, device);
        this.serverName = serverName;
        this.capabilities = ComchCapabilities.of(device.info());
        this.maxMessageBytes = capabilities.maxMessageSize();
        this.receiveQueue = Math.min(DEFAULT_RECEIVE_QUEUE, capabilities.maxReceiveQueueSize());
    }

    ComchEndpoint(Device device, Representor representor, String serverName) {
        super("comch server " + serverName, device, representor);
        this.serverName = serverName;
        this.capabilities = ComchCapabilities.of(device.info());
        this.maxMessageBytes = capabilities.maxMessageSize();
        this.receiveQueue = Math.min(DEFAULT_RECEIVE_QUEUE, capabilities.maxReceiveQueueSize());
    }

    // ---- configuration ----

    /** The server's name: the own one, or that of the server to connect to. */
    public final String serverName() {
        return serverName;
    }

    /**
     * Sets the largest message that can be sent and received; the device's maximum if it is not
     * set. Server and client must set the same, or the connection fails with INVALID_VALUE.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    public final void setMaxMessageSize(int sizeBytes) {
        requireChange();
        requireRange("maxMessageSize", sizeBytes, capabilities.maxMessageSize());
        maxMessageBytes = sizeBytes;
    }

    /** The largest message in bytes. */
    public final int maxMessageSize() {
        return maxMessageBytes;
    }

    /**
     * Sets how many messages of a peer may wait to be received, on each connection; 64, or the
     * device's maximum, if it is not set. Each takes about the maximum message size of shared
     * memory.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    public final void setReceiveQueueSize(int messageCount) {
        requireChange();
        requireRange("receiveQueueSize", messageCount, capabilities.maxReceiveQueueSize());
        receiveQueue = messageCount;
    }

    /** How many messages of a peer may wait to be received. */
    public final int receiveQueueSize() {
        return receiveQueue;
    }

    /**
     * Sets how long the peer may take to answer on the control path: to a disconnect, to the
     * registration of a consumer, to the end of one. 5 s if it is not set.
     *
     * @throws DpuException INVALID_VALUE if it is not positive
     */
    public final void setControlTimeout(long timeoutNanos) {
        requireChange();
        requirePositive("controlTimeoutNanos", timeoutNanos);
        controlTimeoutNanos = timeoutNanos;
    }

    /** How long the peer may take to answer on the control path, in nanoseconds. */
    public final long controlTimeoutNanos() {
        return controlTimeoutNanos;
    }

    /**
     * Sets the number of send tasks and who is told when one is done.
     *
     * @param count 1 to the device's maximum
     * @param onSuccess is given the tasks that were delivered
     * @param onFailure is given the others
     * @throws DpuException INVALID_VALUE if the count is out of range
     */
    public final void setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure) {
        requireChange();
        requireRange("sendTasks", count, capabilities.maxSendTasks());
        Arguments.notNull(onSuccess, "onSuccess");
        Arguments.notNull(onFailure, "onFailure");
        sent = onSuccess;
        failed = onFailure;
        sendTasks = count;
    }

    /** Sets who is given the messages of all connections. */
    public final void setMessageCallback(ComchMessageCallback callback) {
        requireChange();
        messageCallback = Arguments.notNull(callback, "callback");
    }

    /**
     * Sets who is told of the peer's consumers. Without it no producer or consumer can be created
     * on the connections, and the peer's consumers are refused.
     */
    public final void setConsumerCallbacks(
            ComchConsumerCallback created, ComchConsumerCallback expired) {
        requireChange();
        Arguments.notNull(created, "created");
        Arguments.notNull(expired, "expired");
        consumerExpired = expired;
        consumerCreated = created;
    }

    // ---- use ----

    /**
     * Takes a send task from the pool; its message is to be set.
     *
     * @throws DpuException BAD_STATE if the context is not RUNNING; NO_MEMORY if all tasks are in
     *     use; INVALID_VALUE if the connection belongs to another context
     */
    public final ComchSendTask allocateSendTask(ComchConnection to) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(to, "to");
        ComchSendTask task = Objects.requireNonNull(pool, "made at start").allocate();
        boolean set = false;
        try {
            task.setConnection(to);
            set = true;
            return task;
        } finally {
            if (!set) {
                task.free();
            }
        }
    }

    // ---- of the two kinds ----

    /** Begins to serve or to connect. */
    abstract ContextState begin();

    /** Does what there is beside the connections. */
    abstract boolean progressOwn();

    /** Ends serving or connecting; called again until all connections have ended. */
    abstract void endOwn();

    /** A connection has ended; inside progress. */
    abstract void connectionEnded(ComchConnection connection, @Nullable DpuException failure);

    // ---- the context ----

    @Override
    protected final void checkConfiguration() {
        requireItem(sent, "send tasks");
        requireItem(messageCallback, "message callback");
        checkOwnConfiguration();
    }

    abstract void checkOwnConfiguration();

    @Override
    protected final ContextState onStart() {
        long scratchBytes = Math.max(maxMessageBytes, ConsumerAnnouncement.WIRE_BYTES);
        scratch = Arena.ofAuto().allocate(scratchBytes, MESSAGE_ALIGNMENT_BYTES);
        messages = new @Nullable MemorySegment[maxMessageBytes + 1];
        pool = new TaskPool<>(sendTasks, () -> new ComchSendTask(this));
        return begin();
    }

    @Override
    protected final void checkStop() {
        for (Channel channel : channels) {
            if (channel.inUse()) {
                throw new DpuException(
                        Status.IN_USE,
                        "producers or consumers are active on a connection: context=" + this);
            }
        }
    }

    @Override
    protected final boolean onProgress() {
        boolean worked = progressOwn();
        for (int i = channels.size() - 1; i >= 0; i--) { // downwards: one that ends leaves the list
            worked |= channels.get(i).progress();
        }
        return worked;
    }

    @Override
    protected final boolean onStop() {
        endOwn();
        for (int i = 0; i < channels.size(); i++) {
            channels.get(i).stop();
        }
        return channels.isEmpty() && allFreed();
    }

    @Override
    protected final boolean onArm() {
        boolean ready = false;
        for (int i = 0; i < channels.size(); i++) {
            ready |= channels.get(i).arm();
        }
        return ready;
    }

    @Override
    protected final void onDisarm() {
        for (int i = 0; i < channels.size(); i++) {
            channels.get(i).disarm();
        }
    }

    // ---- for the rest of the package, which cannot reach what ContextBase protects ----

    final ChannelTerms terms() {
        return ChannelTerms.of(maxMessageBytes, receiveQueue);
    }

    final void established(Channel channel) {
        channels.add(channel);
    }

    final int channelCount() {
        return channels.size();
    }

    /** Takes a channel out that has closed, and tells who has to know. */
    final void ended(Channel channel, ComchConnection connection, @Nullable DpuException failure) {
        channels.remove(channel);
        connectionEnded(connection, failure);
    }

    final void broken(ComchConnection connection, String reason) {
        Channel open = connection.channel();
        if (open != null) {
            open.broken(reason);
        }
    }

    final boolean takesConsumers() {
        return consumerCreated != null;
    }

    /**
     * Private memory for one message: what came from the peer is looked at here and nowhere else.
     */
    final MemorySegment scratch() {
        return scratch;
    }

    /** Gives the message in {@link #scratch()} to the user. */
    final void deliver(ComchConnection from, int length) {
        MemorySegment message = messages[length];
        if (message == null) { // one view a length, made at its first use
            message = scratch.asSlice(0, length).asReadOnly();
            messages[length] = message;
        }
        try {
            Objects.requireNonNull(messageCallback).onMessage(from, message);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }

    final void sendCompleted(ComchSendTask task) {
        Objects.requireNonNull(task.status() == Status.SUCCESS ? sent : failed).completed(task);
    }

    final void consumerCreated(ComchConnection connection, int id) {
        call(consumerCreated, connection, id);
    }

    final void consumerExpired(ComchConnection connection, int id) {
        call(consumerExpired, connection, id);
    }

    final void call(
            @Nullable ComchConnectionCallback callback,
            ComchConnection connection,
            boolean successful) {
        try {
            Objects.requireNonNull(callback).onConnection(connection, successful);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }

    final void enqueue(Runnable work) {
        post(work);
    }

    final void wakeEngine() {
        post(ComchEndpoint::wakeOnly);
    }

    /** Makes sure that the engine looks at its time limits then, even if it sleeps. */
    final Bus.Alarm wakeEngineAfter(long delayNanos) {
        return bus().after(delayNanos, this::wakeEngine);
    }

    final EngineWaiter doorbells() {
        return waiter();
    }

    final PayloadCopy copies() {
        return copier();
    }

    final Bus machineBus() {
        return bus();
    }

    final void requireThread() {
        requireOwnerThread();
    }

    final void requireChange() {
        requireOwnerThread();
        requireConfigurable();
    }

    final void requireItem(@Nullable Object item, String what) {
        if (item == null) {
            throw new DpuException(
                    Status.BAD_STATE, "not configured: item=%s, context=%s".formatted(what, this));
        }
    }

    /** What the device can do. */
    final ComchCapabilities capabilities() {
        return capabilities;
    }

    static void requireRange(String what, int value, int maximum) {
        if (value < 1 || value > maximum) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "out of range: %s=%d, minimum=1, maximum=%d".formatted(what, value, maximum));
        }
    }

    static void requirePositive(String what, long value) {
        if (value <= 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "not positive: %s=%d".formatted(what, value));
        }
    }

    private static void wakeOnly() {
        // The post has woken the engine; what there is to do it finds in its progress.
    }

    private boolean allFreed() {
        TaskPool<ComchSendTask> tasks = pool;
        return tasks == null || tasks.available() == tasks.total();
    }

    private void call(@Nullable ComchConsumerCallback callback, ComchConnection on, int id) {
        try {
            Objects.requireNonNull(callback).onConsumer(on, id);
        } catch (Throwable e) {
            callbackFailed(e);
        }
    }
}
