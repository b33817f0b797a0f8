package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.TaskType;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the {@link ComchServer} and {@link ComchClient} contexts: configuration, send
 * tasks, and the channels of the connections. Thread: that of the engine.
 *
 * @param <S> the public type, which setters return
 */
abstract sealed class EndpointContext<S extends ComchEndpoint> extends ContextBase<S>
        implements ComchEndpoint permits ServerContext, ClientContext {
    private static final int DEFAULT_RECEIVE_QUEUE = 64;
    private static final int MAX_QUEUED_BYTES = 1 << 30;

    private final String serverName;
    private final ComchCapabilities capabilities = ComchCapabilities.of(device().info());
    private final List<Channel> channels = new ArrayList<>();
    private int maxMessageBytes = capabilities.maxMessageBytes();
    private int receiveQueue = Math.min(DEFAULT_RECEIVE_QUEUE, capabilities.maxReceiveQueueSize());
    private int sendQueueMessages = DEFAULT_SEND_QUEUE_MESSAGES;
    private int sendQueueBytes = DEFAULT_SEND_QUEUE_BYTES;
    private boolean sendQueueSet;
    private final TaskType<SendTask, ComchTaskCallback<ComchSendTask>> sends =
            new TaskType<>(
                    "send", "setSendTasks", capabilities.maxSendTasks(), () -> new SendTask(this));
    private @Nullable EndpointServices endpointServices;

    // Read by EndpointServices too.
    long controlTimeoutNanos = DEFAULT_CONTROL_TIMEOUT.toNanos();
    @Nullable ComchConnectionCallback writableCallback;
    @Nullable ComchMessageCallback messageCallback;
    @Nullable ComchConsumerCallback consumerCreated;
    @Nullable ComchConsumerCallback consumerExpired;
    boolean streamsAccepted;

    /** Creates a client. */
    EndpointContext(Device device, String serverName) {
        super("comch client " + serverName, device);
        this.serverName = serverName;
    }

    /** Creates a server. */
    EndpointContext(Device device, Representor representor, String serverName) {
        super("comch server " + serverName, device, representor);
        this.serverName = serverName;
    }

    // ---- configuration ----

    @Override
    public final String serverName() {
        return serverName;
    }

    @Override
    public final S setMaxMessageBytes(int sizeBytes) {
        requireConfigurable();
        requireRange("maxMessageSizeBytes", sizeBytes, capabilities.maxMessageBytes());
        maxMessageBytes = sizeBytes;
        return self();
    }

    @Override
    public final int maxMessageBytes() {
        return maxMessageBytes;
    }

    @Override
    public final S setReceiveQueueSize(int messageCount) {
        requireConfigurable();
        requireRange("receiveQueueSize", messageCount, capabilities.maxReceiveQueueSize());
        receiveQueue = messageCount;
        return self();
    }

    @Override
    public final int receiveQueueSize() {
        return receiveQueue;
    }

    @Override
    public final S setControlTimeout(Duration timeout) {
        requireConfigurable();
        controlTimeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        return self();
    }

    @Override
    public final Duration controlTimeout() {
        return Duration.ofNanos(controlTimeoutNanos);
    }

    @Override
    public final S setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure) {
        return configure(sends, count, onSuccess, onFailure);
    }

    @Override
    public final S setSendQueue(int messageCount, int sizeBytes) {
        requireConfigurable();
        requireRange("sendQueueMessages", messageCount, MAX_SEND_QUEUE_MESSAGES);
        int least = capabilities.maxMessageBytes();
        if (sizeBytes < least || sizeBytes > MAX_QUEUED_BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "out of range: sendQueueBytes=%d, expected=%d to %d",
                            sizeBytes, least, MAX_QUEUED_BYTES));
        }
        sendQueueMessages = messageCount;
        sendQueueBytes = sizeBytes;
        sendQueueSet = true;
        return self();
    }

    @Override
    public final int sendQueueMessages() {
        return sendQueueMessages;
    }

    @Override
    public final int sendQueueBytes() {
        return sendQueueBytes;
    }

    @Override
    public final S setWritableCallback(@Nullable ComchConnectionCallback callback) {
        requireConfigurable();
        writableCallback = callback;
        return self();
    }

    @Override
    public final S setMessageCallback(ComchMessageCallback callback) {
        requireConfigurable();
        messageCallback = Arguments.notNull(callback, "callback");
        return self();
    }

    @Override
    public final S setConsumerCallbacks(
            ComchConsumerCallback created, ComchConsumerCallback expired) {
        requireConfigurable();
        Arguments.notNull(created, "created");
        Arguments.notNull(expired, "expired");
        consumerExpired = expired;
        consumerCreated = created;
        return self();
    }

    @Override
    public final S acceptStreams() {
        requireConfigurable();
        streamsAccepted = true;
        return self();
    }

    // ---- use ----

    @Override
    public final ComchSendTask allocateSendTask(ComchConnection to) {
        return sends.requireAllocated(tryAllocateSendTask(to));
    }

    @Override
    public final @Nullable ComchSendTask tryAllocateSendTask(ComchConnection to) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(to, "to");
        SendTask task = sends.tryAllocate();
        if (task == null) {
            return null;
        }
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

    // ---- hooks of server and client ----

    /** Begins to listen or to connect. */
    abstract ContextState begin();

    /**
     * Does the work that is not that of a channel; the default has none. Inside progress.
     *
     * @return whether any was done
     */
    boolean progressOwn() {
        return false;
    }

    /** Whether there is work for {@link #progressOwn}. */
    boolean hasOwnWork() {
        return false;
    }

    /** Stops listening or connecting; called again until all connections have ended. */
    abstract void endOwn();

    /** A connection has ended; inside progress. */
    abstract void connectionEnded(ComchConnection connection, @Nullable DpuException failure);

    // ---- the context ----

    @Override
    protected final void checkConfiguration() {
        if (streamsAccepted) {
            return; // streams alone need nothing else
        }
        if (!sendQueueSet) {
            sends.requireConfigured(this);
        }
        requireItem(messageCallback, "message callback", "setMessageCallback");
        checkOwnConfiguration();
    }

    abstract void checkOwnConfiguration();

    @Override
    protected final ContextState onStart() {
        endpointServices = new EndpointServices(this, services(), isSanitized());
        boolean begun = false;
        try {
            sends.makePool();
            ContextState first = begin();
            begun = true;
            return first;
        } finally {
            if (!begun) {
                sends.dropPool();
            }
        }
    }

    @Override
    protected final void checkStop() {
        for (Channel channel : channels) {
            if (channel.inUse()) {
                throw new DpuException(
                        Status.IN_USE,
                        Text.format(
                                "producers or consumers are active on a connection: context=%s, %s",
                                this, channel.describeUsers()));
            }
        }
    }

    @Override
    protected final boolean onProgress() {
        boolean worked = progressOwn();
        for (int i = channels.size() - 1;
                i >= 0;
                i--) { // backwards: a channel that ends is removed from the list
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
        if (!channels.isEmpty() || !sends.allFreed()) {
            return false;
        }
        sends.dropPool();
        return true;
    }

    @Override
    protected final long stopWarningNanos() {
        return controlTimeoutNanos;
    }

    /** In STARTING only a client has something to wait for. */
    @Override
    protected final @Nullable String describeAwaited() {
        if (state() == ContextState.STARTING) {
            return "awaited=server " + serverName;
        }
        return channels.isEmpty()
                ? null
                : "awaited=disconnect by the peer, connections=" + channels.size();
    }

    @Override
    protected final boolean onArm() {
        boolean ready = hasOwnWork();
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

    // ---- for server, client and connections ----

    final ChannelTerms terms() {
        return ChannelTerms.of(maxMessageBytes, receiveQueue);
    }

    /** Services of this endpoint for its connections. */
    final EndpointServices endpointServices() {
        return Objects.requireNonNull(endpointServices, "made at start");
    }

    final void established(Channel channel) {
        channels.add(channel);
    }

    final int channelCount() {
        return channels.size();
    }

    /** Removes a closed channel and calls {@link #connectionEnded}. */
    final void ended(Channel channel, ComchConnection connection, @Nullable DpuException failure) {
        channels.remove(channel);
        connectionEnded(connection, failure);
    }

    final void sendCompleted(SendTask task) {
        sends.callbackFor(task).completed(task);
    }

    final void requireThread() {
        requireOwnerThread();
    }

    /** A message was sent without a task, or a disconnect has begun. */
    final void workQueued() {
        workAdded();
    }

    /**
     * Refuses a start without an item.
     *
     * @param what the item, for the message
     * @param setter the method that sets it, for the message
     */
    final void requireItem(@Nullable Object item, String what, String setter) {
        if (item == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=%s, context=%s, expected=%s, before"
                                    + " start",
                            what, this, setter));
        }
    }

    /** Capabilities of the device. */
    final ComchCapabilities capabilities() {
        return capabilities;
    }

    static void requireRange(String what, int value, int maximum) {
        if (value < 1 || value > maximum) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("out of range: %s=%d, expected=1 to %d", what, value, maximum));
        }
    }
}
