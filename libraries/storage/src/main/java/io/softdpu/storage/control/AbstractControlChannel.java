package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the control channels: reassembly, the bounded inbox, failure, abort and timeouts.
 */
abstract class AbstractControlChannel implements ControlChannel {
    /** Limit of messages that wait to be polled; a correct peer never reaches it. */
    static final int MAX_UNREAD_MESSAGES = 64;

    /** Limit of messages that wait to be sent. */
    static final int MAX_UNSENT_MESSAGES = 64;

    private final ArrayDeque<ControlMessage> inbox = new ArrayDeque<>();
    private final FrameAssembler assembler = new FrameAssembler();
    private volatile @Nullable String abortReason;
    private @Nullable DpuException failure;
    private boolean closed;

    /** Whether an error_response was sent or received: a second one is not sent. */
    private boolean errorExchanged;

    /** Sends and receives without blocking; reports failures by {@link #fail}. */
    abstract void pump();

    /** Updates the state of the peer, running no callbacks but this channel's. */
    abstract void refresh();

    /** Waits until the transport has work for {@link #pump}, or the time has passed. */
    abstract void awaitTransport(Duration timeout);

    /**
     * Sends a frame as far as the transport accepts it; the rest is sent by {@link #pump}. Receives
     * nothing and runs no callbacks; reports failures by {@link #fail}.
     */
    abstract void send(byte[] frame);

    /** Number of queued frames that have not been sent completely. */
    abstract int unsent();

    /** Closes the transport. Called once. */
    abstract void closeTransport();

    /** The failure of a connect that timed out. */
    abstract DpuException connectTimedOut(Duration waited);

    @Override
    public final void awaitConnected(Duration timeout) {
        boolean connected = WaitLoop.await(this::isPeerPresent, Deadline.in(timeout), this::await);
        if (!connected) {
            throw connectTimedOut(timeout);
        }
    }

    private boolean isPeerPresent() {
        checkUsable();
        pump();
        // A peer that has sent a message was connected, even if it has ended since.
        if (isConnected() || !inbox.isEmpty()) {
            return true;
        }
        throwFailure();
        return false;
    }

    @Override
    public final void send(ControlMessage message) {
        checkUsable();
        boolean error = message.type() == ControlMessageType.ERROR_RESPONSE;
        if (error && errorExchanged) {
            return; // an error_response is not answered by another
        }
        byte[] frame = ControlCodec.encode(message);
        // Detects a lost peer before sending to it; its earlier messages can still be polled.
        refresh();
        throwFailure();
        if (!isConnected()) {
            throw new DpuException(
                    Status.NOT_CONNECTED,
                    "control message cannot be sent: type="
                            + message.type().wireName()
                            + ", to="
                            + description());
        }
        if (unsent() >= MAX_UNSENT_MESSAGES) {
            throw new DpuException(
                    Status.FULL,
                    "peer does not receive its control messages: to="
                            + description()
                            + ", waiting="
                            + unsent());
        }
        errorExchanged |= error;
        send(frame);
    }

    @Override
    public final void sendFinalError(ControlPayload.ErrorResponse reason) {
        if (closed || errorExchanged || !isConnected() || unsent() >= MAX_UNSENT_MESSAGES) {
            return;
        }
        errorExchanged = true;
        try {
            send(ControlCodec.encode(new ControlMessage(0, 0, reason)));
        } catch (DpuException e) {
            // The caller fails for another reason, which must not be replaced by this one.
            System.getLogger(AbstractControlChannel.class.getName())
                    .log(System.Logger.Level.DEBUG, "final error not sent: to=" + description(), e);
        }
    }

    @Override
    public final void flush(Duration timeout) {
        // Not await(), which returns at once while a message is unread: this loop would spin.
        boolean sent = WaitLoop.await(this::isFlushed, Deadline.in(timeout), this::awaitTransport);
        if (!sent) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "peer did not take its control messages: to="
                            + description()
                            + ", waiting="
                            + unsent());
        }
    }

    private boolean isFlushed() {
        checkUsable();
        pump();
        if (unsent() == 0) {
            return true;
        }
        throwFailure();
        return false;
    }

    @Override
    public final boolean progress() {
        checkUsable();
        pump();
        if (inbox.isEmpty()) {
            throwFailure();
        }
        return !inbox.isEmpty();
    }

    @Override
    public final @Nullable ControlMessage poll() {
        progress();
        return inbox.pollFirst();
    }

    @Override
    public final boolean isFailure(DpuException problem) {
        DpuException own = failure;
        return own != null && (own.equals(problem) || own.equals(problem.getCause()));
    }

    @Override
    public final void await(Duration timeout) {
        if (inbox.isEmpty() && failure == null && abortReason == null && !closed) {
            awaitTransport(timeout);
        }
    }

    @Override
    public final void abort(String reason) {
        synchronized (this) {
            if (abortReason == null) {
                abortReason = reason;
            }
        }
        wakeup();
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            closeTransport();
        }
    }

    final boolean isInboxFull() {
        return inbox.size() >= MAX_UNREAD_MESSAGES;
    }

    /** Whether {@link #poll} has a message or a failure. */
    final boolean hasInput() {
        return !inbox.isEmpty() || failure != null;
    }

    final boolean hasFailed() {
        return failure != null;
    }

    final boolean isInsideFrame() {
        return assembler.isInsideFrame();
    }

    /** Adds the first message, which was received before the client was selected. */
    final void receivedFirst(ControlMessage message) {
        inbox.addLast(message);
    }

    /** Decodes received bytes until the inbox is full; the rest stays in the buffer. */
    final void received(ByteBuffer bytes) {
        received(bytes, MAX_UNREAD_MESSAGES);
    }

    /** Decodes all received bytes, for a transport that cannot keep a rest. */
    final void receivedAll(ByteBuffer bytes) {
        received(bytes, 2 * MAX_UNREAD_MESSAGES);
        if (bytes.hasRemaining() && failure == null) {
            fail(
                    new DpuException(
                            Status.UNEXPECTED,
                            "too many unread control messages: from="
                                    + description()
                                    + ", unread="
                                    + inbox.size()));
        }
    }

    private void received(ByteBuffer bytes, int limit) {
        try {
            while (bytes.hasRemaining() && failure == null && inbox.size() < limit) {
                ControlMessage message = assembler.feed(bytes);
                if (message != null) {
                    errorExchanged |= message.type() == ControlMessageType.ERROR_RESPONSE;
                    inbox.addLast(message);
                }
            }
        } catch (DpuException e) {
            // The stream is unusable from here on, but the other direction still works.
            sendFinalError(
                    ControlPayload.ErrorResponse.of(e.status(), String.valueOf(e.getMessage())));
            // Not by fail(): sending the error may have failed too, and would count as the reason.
            failure =
                    new DpuException(
                            e.status(),
                            "peer sent an illegal control message: from="
                                    + description()
                                    + ", reason="
                                    + e.getMessage(),
                            e);
        }
    }

    /** Marks the connection as failed; the first failure counts. */
    final void fail(DpuException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /**
     * The failure for a connection that has ended.
     *
     * @param cause the transport's failure; null if the peer closed it in an orderly way
     */
    final DpuException peerGone(@Nullable Throwable cause) {
        return new DpuException(
                Status.CONNECTION_RESET,
                "peer has ended: peer="
                        + description()
                        + (isInsideFrame() ? ", at=in the middle of a control message" : "")
                        + (cause == null ? "" : ", reason=" + Reason.of(cause)),
                cause);
    }

    private void checkUsable() {
        String reason = abortReason;
        if (reason != null) {
            throw new DpuException(Status.CONNECTION_ABORTED, reason);
        }
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE, "control channel is closed: peer=" + description());
        }
    }

    private void throwFailure() {
        DpuException reason = failure;
        if (reason != null) {
            throw new DpuException(reason.status(), String.valueOf(reason.getMessage()), reason);
        }
    }
}
