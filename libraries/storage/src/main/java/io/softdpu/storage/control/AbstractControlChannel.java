package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** What all channels share: reassembly, the bounded inbox, failure, abort and deadlines. */
abstract class AbstractControlChannel implements ControlChannel {
    /** Messages that may wait to be polled; no peer has a reason to send so many. */
    static final int MAX_UNREAD_MESSAGES = 64;

    /** Messages that may wait to be sent. */
    static final int MAX_UNSENT_MESSAGES = 64;

    private final ArrayDeque<ControlMessage> inbox = new ArrayDeque<>();
    private final FrameAssembler assembler = new FrameAssembler();
    private volatile @Nullable String abortReason;
    private @Nullable DpuException failure;
    private boolean closed;

    /** Whether an error_response has passed: one of the two knows why the other gives up. */
    private boolean errorPassed;

    /** Moves bytes both ways as far as that goes without waiting; reports by {@link #fail}. */
    abstract void pump();

    /** Looks whether the peer is there, as far as that runs no callbacks but this channel's. */
    abstract void look();

    /** Waits for the transport to have something for {@link #pump}. */
    abstract void awaitTransport(long timeoutNanos);

    /** Hands a frame to the transport; what it does not take at once goes out by {@link #pump}. */
    abstract void enqueue(byte[] frame);

    /** Offers the transport what was enqueued. Unlike {@link #pump} it takes nothing in. */
    abstract void push();

    /** As {@link #push}, and has the peer notice. */
    abstract void transmit();

    /** Frames that have been enqueued and still need this side. */
    abstract int unsent();

    /** Gives the transport back. Called once. */
    abstract void closeTransport();

    /** Why nobody is there yet, for the message of a connect that took too long. */
    abstract DpuException notConnectedInTime(long waitedNanos);

    @Override
    public final void awaitConnected(long timeoutNanos) {
        boolean came = WaitLoop.await(this::hasCome, Deadline.in(timeoutNanos), this::await);
        if (!came) {
            throw notConnectedInTime(timeoutNanos);
        }
    }

    private boolean hasCome() {
        checkUsable();
        pump();
        // A peer that said something was there, even if it has gone since.
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
        if (error && errorPassed) {
            return; // one of the two has said why, and neither answers that
        }
        byte[] frame = ControlCodec.encode(message);
        // Whoever sends to a peer that is gone should hear it now; what it said before stays
        // polled.
        look();
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
                    "peer does not take its control messages: to="
                            + description()
                            + ", waiting="
                            + unsent());
        }
        errorPassed |= error;
        enqueue(frame);
        transmit();
    }

    @Override
    public final void farewell(ControlPayload.ErrorResponse reason) {
        if (closed || errorPassed || !isConnected() || unsent() >= MAX_UNSENT_MESSAGES) {
            return;
        }
        errorPassed = true;
        enqueue(ControlCodec.encode(new ControlMessage(0, 0, reason)));
        try {
            push();
        } catch (DpuException e) {
            // Whoever gives up has a better reason than that it could not be told.
            System.getLogger(AbstractControlChannel.class.getName())
                    .log(System.Logger.Level.DEBUG, "farewell not sent: to=" + description(), e);
        }
    }

    @Override
    public final void flush(long timeoutNanos) {
        // Not await(): an unread message must not turn this loop into a busy one.
        boolean sent =
                WaitLoop.await(this::isFlushed, Deadline.in(timeoutNanos), this::awaitTransport);
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
    public final void await(long timeoutNanos) {
        if (inbox.isEmpty() && failure == null && abortReason == null && !closed) {
            awaitTransport(timeoutNanos);
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

    /** Whether {@link #poll} has something to say. */
    final boolean hasNews() {
        return !inbox.isEmpty() || failure != null;
    }

    final boolean hasFailed() {
        return failure != null;
    }

    final boolean isInsideFrame() {
        return assembler.isInsideFrame();
    }

    /** Takes the message by which the peer has become one. */
    final void receivedFirst(ControlMessage message) {
        inbox.addLast(message);
    }

    /** Takes bytes of the peer until the inbox is full; what is left over is for the next time. */
    final void received(ByteBuffer bytes) {
        received(bytes, MAX_UNREAD_MESSAGES);
    }

    /** Takes all these bytes of the peer, for a transport that cannot hold any back. */
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
                    errorPassed |= message.type() == ControlMessageType.ERROR_RESPONSE;
                    inbox.addLast(message);
                }
            }
        } catch (DpuException e) {
            // The stream is of no use any more, but the other direction still is.
            farewell(ControlPayload.ErrorResponse.of(e.status(), String.valueOf(e.getMessage())));
            // Not by fail(): the farewell may have met the peer's end, which is not the reason.
            failure =
                    new DpuException(
                            e.status(),
                            "peer sent what is no control message: from="
                                    + description()
                                    + ", reason="
                                    + e.getMessage(),
                            e);
        }
    }

    /** Ends the connection for good; the first failure counts. */
    final void fail(DpuException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /**
     * The failure for a connection that has ended.
     *
     * @param cause why the transport ended it; null where the peer closed it in good order
     */
    final DpuException peerGone(@Nullable Throwable cause) {
        return new DpuException(
                Status.CONNECTION_RESET,
                "peer has gone: peer="
                        + description()
                        + (isInsideFrame() ? ", at=in the middle of a control message" : "")
                        + (cause == null ? "" : ", reason=" + cause.getMessage()),
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
