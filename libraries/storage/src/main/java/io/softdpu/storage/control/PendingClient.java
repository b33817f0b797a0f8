package io.softdpu.storage.control;

import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.FrameAssembler;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A client that has connected, and has until a deadline to send a first whole control message.
 * Costs a descriptor and the few bytes that such a message may have.
 */
final class PendingClient {
    /** The longest first message: a hello and a query have no payload, so this is ample. */
    static final int MAX_WIRE_SIZE = 1 << 10;

    private final TcpStream stream;
    private final String name;
    private final Deadline deadline;
    private final FrameAssembler assembler = new FrameAssembler(MAX_WIRE_SIZE);

    private PendingClient(TcpStream stream, String name, Deadline deadline) {
        this.stream = stream;
        this.name = name;
        this.deadline = deadline;
    }

    /**
     * Begins to listen to a connection.
     *
     * @throws IOException where the client has gone already; the stream stays the caller's
     */
    static PendingClient of(TcpStream stream, long timeoutNanos) throws IOException {
        stream.setNoDelay();
        return new PendingClient(stream, nameOf(stream), Deadline.in(timeoutNanos));
    }

    /** The peer of a connection, for messages. */
    static String nameOf(TcpStream stream) throws IOException {
        return "tcp://" + stream.remoteAddress().toString().replaceFirst("^.*/", "");
    }

    TcpStream stream() {
        return stream;
    }

    String name() {
        return name;
    }

    /** What is left of its time, 0 where it has passed. */
    long remainingNanos() {
        return deadline.remainingNanos();
    }

    /**
     * Reads once.
     *
     * @param buffer to read into, direct; holds afterwards what came behind the first message
     * @return the first message once it is whole
     * @throws IOException where the client has gone
     * @throws io.softdpu.core.DpuException INVALID_VALUE where it sends no control message, or one
     *     that is too long for a first
     */
    @Nullable ControlMessage read(ByteBuffer buffer) throws IOException {
        buffer.clear();
        int count;
        try {
            count = stream.read(buffer);
        } finally {
            buffer.flip();
        }
        if (count < 0) {
            throw new EOFException("client has gone before it said anything");
        }
        return assembler.feed(buffer);
    }
}
