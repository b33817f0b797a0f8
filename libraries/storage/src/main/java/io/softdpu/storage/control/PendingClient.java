package io.softdpu.storage.control;

import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.FrameAssembler;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Connected client that has to send its first control message before a deadline. Uses a descriptor
 * and a buffer for that short message.
 */
final class PendingClient {
    /**
     * Largest wire size of a first message, ample for a hello or a query, which have no payload.
     */
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
     * Creates a pending client for a connection.
     *
     * @throws IOException if the client has ended already; the stream still belongs to the caller
     */
    static PendingClient of(TcpStream stream, Duration timeout) throws IOException {
        stream.setNoDelay();
        return new PendingClient(stream, nameOf(stream), Deadline.in(timeout));
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

    /** Time until its deadline; 0 if it has passed. */
    long remainingNanos() {
        return deadline.remaining().toNanos();
    }

    /**
     * Reads once, without blocking.
     *
     * @param buffer to read into, direct; contains the bytes after the first message afterwards
     * @return the first message; null if it is not complete yet
     * @throws IOException if the client has ended
     * @throws io.softdpu.core.DpuException INVALID_VALUE for an illegal control message, or one
     *     that is too long for a first message
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
            throw new EOFException("client ended before it sent a message");
        }
        return assembler.feed(buffer);
    }
}
