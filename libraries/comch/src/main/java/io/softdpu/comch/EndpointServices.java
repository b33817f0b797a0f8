package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.link.EventPoller;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Services of a started client or server for the parts of its connections: its engine and bus, and
 * the user's callbacks. Created at start and valid until the context is closed. Belongs to the
 * engine's thread, except where a method states otherwise.
 */
final class EndpointServices {
    private static final long MESSAGE_ALIGNMENT_BYTES = 64;

    private final ContextServices engine;
    private final Bus bus;
    private final Copier copier;
    private volatile long controlTimeoutNanos;
    private final @Nullable ComchMessageCallback messageCallback;
    private final @Nullable ComchConsumerCallback consumerCreated;
    private final @Nullable ComchConsumerCallback consumerExpired;
    private final boolean acceptsStreams;
    private final boolean sanitized;
    private final int sendQueueMessages;
    private final int sendQueueBytes;
    private final @Nullable ComchConnectionCallback writableCallback;
    private final MemorySegment scratch;
    private final @Nullable MemorySegment[] messages;

    /** Takes over what the endpoint is configured to, which may change after its stop. */
    EndpointServices(EndpointContext<?> endpoint, ContextServices engine, boolean sanitized) {
        this.engine = engine;
        this.bus = BusServices.bus(endpoint.device());
        this.copier = engine.copier();
        this.controlTimeoutNanos = endpoint.controlTimeoutNanos;
        this.messageCallback = endpoint.messageCallback;
        this.consumerCreated = endpoint.consumerCreated;
        this.consumerExpired = endpoint.consumerExpired;
        this.acceptsStreams = endpoint.streamsAccepted;
        this.sanitized = sanitized;
        this.sendQueueMessages = endpoint.sendQueueMessages();
        this.sendQueueBytes = endpoint.sendQueueBytes();
        this.writableCallback = endpoint.writableCallback;
        int maxMessageBytes = endpoint.maxMessageBytes();
        long scratchBytes = Math.max(maxMessageBytes, ConsumerAnnouncement.WIRE_BYTES);
        this.scratch = Arena.ofAuto().allocate(scratchBytes, MESSAGE_ALIGNMENT_BYTES);
        this.messages = new @Nullable MemorySegment[maxMessageBytes + 1];
    }

    // ---- engine and bus ----

    /** The machine's bus. Any thread. */
    Bus bus() {
        return bus;
    }

    Copier copier() {
        return copier;
    }

    /** The doorbells that wake the engine. */
    EventPoller doorbells() {
        return BusServices.poller(engine);
    }

    /** Posts work to the engine, which runs it in its next progress. Any thread. */
    void post(Runnable work) {
        engine.post(work);
    }

    /**
     * Makes the engine progress, also in event mode, where a wake alone is not enough. Any thread.
     */
    void wake() {
        engine.post(EndpointServices::wakeOnly);
    }

    /** Creates the queue of a connection for messages of this size at most. */
    SendQueue sendQueue(int maxMessageBytes) {
        return new SendQueue(copier, sendQueueMessages, sendQueueBytes, maxMessageBytes);
    }

    /** Creates a timer of the engine; cancel it before the context is closed. */
    EngineTimer timer(Runnable callback) {
        return engine.timer(callback);
    }

    /** Time within which the peer must reply on the control path. Any thread. */
    long controlTimeoutNanos() {
        return controlTimeoutNanos;
    }

    /** Another time for what is awaited from now on; for tests. Any thread. */
    void limitReplies(long nanos) {
        controlTimeoutNanos = nanos;
    }

    private static void wakeOnly() {
        // The post has woken the engine; its progress finds the work.
    }

    // ---- the user's callbacks ----

    /** Private memory for one message: a message of the peer is copied here before it is read. */
    MemorySegment scratch() {
        return scratch;
    }

    /** Calls the user's message callback, if there is one, with the message in scratch memory. */
    void deliver(ComchConnection from, int length) {
        ComchMessageCallback callback = messageCallback;
        if (callback == null) {
            return; // streams alone
        }
        MemorySegment message = messages[length];
        if (message == null) { // one view per length, created at its first use
            message = scratch.asSlice(0, length).asReadOnly();
            messages[length] = message;
        }
        try {
            if (sanitized) {
                deliverCopy(callback, from, message);
            } else {
                callback.onMessage(from, message);
            }
        } catch (Throwable e) {
            engine.callbackFailed(e);
        }
    }

    /** Delivers a message whose memory ends with the call. */
    private static void deliverCopy(
            ComchMessageCallback callback, ComchConnection from, MemorySegment message) {
        try (Arena ofCall = Arena.ofShared()) {
            callback.onMessage(from, LentMemory.copy(message, ofCall));
        }
    }

    /** Calls the user, if there is a callback for connections that have room again. */
    void writable(ComchConnection connection) {
        ComchConnectionCallback callback = writableCallback;
        if (callback == null) {
            return;
        }
        try {
            callback.onConnection(connection);
        } catch (Throwable e) {
            engine.callbackFailed(e);
        }
    }

    /** Whether the user has set consumer callbacks. Any thread. */
    boolean hasConsumerCallbacks() {
        return consumerCreated != null;
    }

    /** Whether streams can be created, and consumers of the peer are accepted. Any thread. */
    boolean acceptsStreams() {
        return acceptsStreams || hasConsumerCallbacks();
    }

    void consumerCreated(ComchConnection connection, int id) {
        call(consumerCreated, callback -> callback.onConsumer(connection, id));
    }

    void consumerExpired(ComchConnection connection, int id) {
        call(consumerExpired, callback -> callback.onConsumer(connection, id));
    }

    /** Calls the user, if there is a callback: streams alone need none. */
    <C> void call(@Nullable C callback, Consumer<C> by) {
        if (callback == null) {
            return;
        }
        try {
            by.accept(callback);
        } catch (Throwable e) {
            engine.callbackFailed(e);
        }
    }
}
