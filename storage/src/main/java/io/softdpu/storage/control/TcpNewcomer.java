package io.softdpu.storage.control;

import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.FrameAssembler;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who has connected, and has until a deadline to say a first whole control message. Costs
 * a descriptor and the few bytes that such a message may have.
 */
final class TcpNewcomer {
    /** The longest first message: a hello and a query have no payload, so this is ample. */
    static final int MAX_WIRE_SIZE = 1 << 10;

    private final SocketChannel socket;
    private final String name;
    private final Deadline deadline;
    private final FrameAssembler assembler = new FrameAssembler(MAX_WIRE_SIZE);

    private TcpNewcomer(SocketChannel socket, String name, Deadline deadline) {
        this.socket = socket;
        this.name = name;
        this.deadline = deadline;
    }

    /**
     * Begins to listen to a socket.
     *
     * @throws IOException where the client has gone already; the socket stays the caller's
     */
    static TcpNewcomer of(SocketChannel socket, Selector selector, long timeoutNanos)
            throws IOException {
        socket.configureBlocking(false);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.register(selector, SelectionKey.OP_READ);
        return new TcpNewcomer(socket, nameOf(socket), Deadline.in(timeoutNanos));
    }

    /** Who is at the other end of a socket, for messages. */
    static String nameOf(SocketChannel socket) throws IOException {
        return "tcp://" + socket.getRemoteAddress().toString().replaceFirst("^.*/", "");
    }

    SocketChannel socket() {
        return socket;
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
     * @param buffer to read into; holds afterwards what came behind the first message
     * @return the first message once it is whole
     * @throws IOException where the client has gone
     * @throws io.softdpu.core.DpuException INVALID_VALUE where it sends no control message, or one
     *     that is too long for a first
     */
    @Nullable ControlMessage read(ByteBuffer buffer) throws IOException {
        buffer.clear();
        int count;
        try {
            count = socket.read(buffer);
        } finally {
            buffer.flip();
        }
        if (count < 0) {
            throw new EOFException("client has gone before it said anything");
        }
        return assembler.feed(buffer);
    }
}
