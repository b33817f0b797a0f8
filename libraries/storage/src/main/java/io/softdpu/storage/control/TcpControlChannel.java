package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Base class of both sides of a TCP control channel: non-blocking sockets, and the progress engine
 * in which the owner waits for them, for deadlines, and for all other events of the engine.
 *
 * <p>All input and output is done by {@link #pump}, which is run by the owner's calls, and by the
 * engine's progress when a socket is ready or a deadline has passed. Input that is received in a
 * progress of another user of the engine wakes the engine, so that the owner's next wait returns at
 * once.
 */
abstract class TcpControlChannel extends AbstractControlChannel {
    private static final int READ_BYTES = 16 << 10;

    final ProgressEngine engine;

    /** Bytes that were read and not decoded yet. */
    final ByteBuffer incoming = ByteBuffer.allocateDirect(READ_BYTES).limit(0);

    private final EngineTimer deadline;
    private final ArrayDeque<ByteBuffer> outgoing = new ArrayDeque<>();
    private @Nullable TcpStream stream;

    TcpControlChannel(ProgressEngine engine) {
        this.engine = engine;
        this.deadline = engine.timer(this::ready);
    }

    /** Advances connecting or accepting. */
    abstract void pumpConnection() throws IOException;

    /** Time until {@link #pumpConnection} has work; {@link Long#MAX_VALUE} for never. */
    abstract long untilDeadlineNanos();

    /** Removes all watches, since the channel has failed. */
    abstract void stopWatching();

    @Override
    public final boolean isConnected() {
        return stream != null && !hasFailed();
    }

    @Override
    public final void wakeup() {
        engine.wake();
    }

    @Override
    final void pump() {
        if (!hasFailed()) {
            try {
                pumpConnection();
                TcpStream present = stream;
                if (present != null && !hasFailed()) {
                    writeOrFail(present);
                    if (!hasFailed()) {
                        read(present);
                    }
                }
            } catch (IOException e) {
                fail(peerGone(e));
            } catch (DpuException e) {
                fail(e);
            }
        }
        arm();
    }

    /** As {@link #pump}, which runs no callbacks of others. */
    @Override
    final void refresh() {
        pump();
    }

    /** Callback for a ready socket or a deadline; inside the engine's progress. */
    final void ready() {
        pump();
        if (hasInput()) {
            engine.wake();
        }
    }

    @Override
    final void awaitTransport(Duration timeout) {
        engine.await(timeout);
    }

    /** Queues a frame, which {@link #pump} sends. */
    final void enqueue(byte[] frame) {
        outgoing.addLast(ByteBuffer.wrap(frame));
    }

    @Override
    final void send(byte[] frame) {
        enqueue(frame);
        TcpStream present = stream;
        if (present != null && !hasFailed()) {
            writeOrFail(present);
            arm();
        }
    }

    @Override
    final int unsent() {
        return outgoing.size();
    }

    /** Marks the peer as connected. */
    final void connected(TcpStream connection) throws IOException {
        connection.setNoDelay();
        connection.watch().onReady(this::ready);
        stream = connection;
        engine.wake(); // the owner's next wait returns, also after a progress of another user
    }

    final @Nullable TcpStream stream() {
        return stream;
    }

    @Override
    void closeTransport() {
        deadline.cancel();
        close(stream);
    }

    static void close(@Nullable TcpStream connection) {
        if (connection != null) {
            connection.close();
        }
    }

    /** Reads before it fails: a peer that has ended may have sent the reason. */
    private void writeOrFail(TcpStream connection) {
        try {
            write(connection);
        } catch (IOException e) {
            try {
                read(connection);
            } catch (IOException again) {
                e.addSuppressed(again);
            }
            if (!hasFailed()) {
                fail(peerGone(e));
            }
        }
    }

    private void write(TcpStream connection) throws IOException {
        while (true) {
            ByteBuffer first = outgoing.peekFirst();
            if (first == null) {
                return;
            }
            connection.write(first);
            if (first.hasRemaining()) {
                return;
            }
            outgoing.removeFirst();
        }
    }

    /** Leaves the buffer readable: bytes that do not fit the inbox stay in it. */
    private void read(TcpStream connection) throws IOException {
        while (true) {
            received(incoming);
            if (hasFailed() || isInboxFull()) {
                return;
            }
            incoming.clear();
            int count;
            try {
                count = connection.read(incoming);
            } finally {
                incoming.flip();
            }
            if (count < 0) {
                fail(peerGone(null));
            }
            if (count <= 0) {
                return;
            }
        }
    }

    /** Sets watches and timer for exactly the events that can be handled now. */
    private void arm() {
        if (!hasFailed()) {
            try {
                armStream();
                armDeadline();
                return;
            } catch (DpuException e) {
                fail(e); // the limit of watches is reached: events of the peer would be missed
            }
        }
        deadline.cancel();
        close(stream);
        stopWatching();
    }

    private void armStream() {
        if (stream != null) {
            stream.watch()
                    .setInterest(
                            (isInboxFull() ? 0 : DescriptorWatch.READABLE)
                                    | (outgoing.isEmpty() ? 0 : DescriptorWatch.WRITABLE));
        }
    }

    private void armDeadline() {
        long left = untilDeadlineNanos();
        if (left == Long.MAX_VALUE) {
            deadline.cancel();
        } else {
            deadline.set(Duration.ofNanos(left));
        }
    }
}
