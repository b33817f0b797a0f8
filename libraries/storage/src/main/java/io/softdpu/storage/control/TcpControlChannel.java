package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What both ends of a TCP channel share: sockets that never block, and the progress engine that is
 * waited in for all of them, for deadlines, and for whatever else its owner has in it.
 *
 * <p>All input and output is done by {@link #pump}, which the owner's calls run, and the engine's
 * progress where a socket is ready or a deadline has passed. What comes in a progress that another
 * user of the engine makes ends the next wait as well, since nobody has looked at it yet.
 */
abstract class TcpControlChannel extends AbstractControlChannel {
    private static final int READ_BYTES = 16 << 10;

    final ProgressEngine engine;

    /** What has been read and not been taken yet. */
    final ByteBuffer incoming = ByteBuffer.allocateDirect(READ_BYTES).limit(0);

    private final EngineTimer deadline;
    private final ArrayDeque<ByteBuffer> outgoing = new ArrayDeque<>();
    private @Nullable TcpStream stream;

    TcpControlChannel(ProgressEngine engine) {
        this.engine = engine;
        this.deadline = engine.timer(this::ready);
    }

    /** Goes on with becoming connected, and with whatever else the end has to look after. */
    abstract void pumpConnection() throws IOException;

    /** When {@link #pumpConnection} has something to do next; {@link #NO_TIMEOUT} for never. */
    abstract long untilDeadlineNanos();

    /** Watches for nothing more, since the channel has failed. */
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

    /** As {@link #pump}: it runs nothing but this channel. */
    @Override
    final void look() {
        pump();
    }

    /** A socket is ready or a deadline has passed; inside the engine's progress. */
    final void ready() {
        pump();
        if (hasNews()) {
            engine.wake();
        }
    }

    @Override
    final void awaitTransport(long timeoutNanos) {
        engine.await(timeoutNanos);
    }

    @Override
    final void enqueue(byte[] frame) {
        outgoing.addLast(ByteBuffer.wrap(frame));
    }

    @Override
    final void push() {
        TcpStream present = stream;
        if (present != null && !hasFailed()) {
            writeOrFail(present);
            arm();
        }
    }

    @Override
    final void transmit() {
        push();
    }

    @Override
    final int unsent() {
        return outgoing.size();
    }

    /** From here on the peer is there. */
    final void connected(TcpStream connection) throws IOException {
        connection.setNoDelay();
        connection.watch().onReady(this::ready);
        stream = connection;
        engine.wake(); // where it came in a progress of somebody else, its owner looks now
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

    /** A peer that has gone may have said why: that is read first. */
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

    /** The buffer is left to be read from: what the inbox has no room for stays in it. */
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

    /** Has the engine tell of what can be dealt with now, and of nothing else. */
    private void arm() {
        if (!hasFailed()) {
            try {
                armStream();
                armDeadline();
                return;
            } catch (DpuException e) {
                fail(e); // no room for a watch: nothing would tell of the peer any more
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
        if (left == NO_TIMEOUT) {
            deadline.cancel();
        } else {
            deadline.set(left);
        }
    }
}
