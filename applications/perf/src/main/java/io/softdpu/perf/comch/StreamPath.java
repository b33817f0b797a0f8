package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchReceiveBuffer;
import io.softdpu.comch.ComchSendBuffer;
import io.softdpu.comch.ComchStream;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Messages by a stream, which each side has one of. */
final class StreamPath implements MessagePath {
    private final ComchSide side;
    private final long sizeBytes;
    private final boolean stamped;
    private @Nullable ComchStream stream;

    StreamPath(ComchSide side) {
        this.side = side;
        sizeBytes = side.plan.sizeBytes();
        stamped = side.plan.isStamped();
    }

    @Override
    public void configure(ComchEndpoint endpoint) {
        endpoint.acceptStreams();
    }

    /** A stream begins to run when the peer has started its own: it is not awaited here. */
    @Override
    public void receive(ComchConnection over) {
        ComchStream created =
                ComchStream.create(over)
                        .setBufferBytes(sizeBytes)
                        .setSendBuffers(side.plan.window())
                        .setReceiveBuffers(side.plan.window())
                        .setReadyCallback(this::ready);
        stream = created;
        side.keep(() -> side.stop(created));
        side.engine.connect(created);
        created.start();
    }

    @Override
    public void produce(ComchConnection over) {
        if (stream == null) {
            receive(over);
        }
        ComchStream present = Objects.requireNonNull(stream, "made by receive");
        side.until("stream runs", () -> present.state() == ContextState.RUNNING);
    }

    @Override
    public boolean trySend(long stamp) {
        ComchStream present = stream;
        if (present == null) {
            return false;
        }
        ComchSendBuffer message = present.tryClaim();
        if (message == null) {
            requireNoEnd(present);
            return false;
        }
        if (stamped) {
            message.segment().set(ValueLayout.JAVA_LONG, 0, stamp);
        }
        message.send(sizeBytes);
        return true;
    }

    /** Refuses a stream that has ended, which this side has not begun. */
    private static void requireNoEnd(ComchStream present) {
        ContextState state = present.state();
        if (state == ContextState.STOPPING || state == ContextState.IDLE) {
            DpuException failure = present.failure();
            throw MessagePath.refused(
                    failure == null ? Status.SHUTDOWN : failure.status(), present.connection());
        }
    }

    /**
     * Always: the stream has the messages, and tells of their receipt only by those of the peer.
     */
    @Override
    public boolean allSent() {
        return true;
    }

    @Override
    public void freeIdle() {
        // The stream's tasks are its own.
    }

    private void ready(ComchStream of) {
        ComchReceiveBuffer message;
        while ((message = of.tryReceive()) != null) {
            try {
                if (!side.isClosing()) {
                    side.plan.requireSize(message.length());
                    side.received(stamped ? message.segment().get(ValueLayout.JAVA_LONG, 0) : 0);
                }
            } finally {
                message.close();
            }
        }
    }
}
