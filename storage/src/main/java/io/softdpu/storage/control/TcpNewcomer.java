package io.softdpu.storage.control;

import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.FrameAssembler;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** Somebody who has connected and has until a deadline to say a whole control message. */
final class TcpNewcomer {
    private final SocketChannel socket;
    private final String name;
    private final Deadline deadline;
    private final FrameAssembler assembler = new FrameAssembler();
    private final ByteBuffer incoming = ByteBuffer.allocate(TcpControlChannel.READ_BYTES);

    private TcpNewcomer(SocketChannel socket, String name, Deadline deadline) {
        this.socket = socket;
        this.name = name;
        this.deadline = deadline;
    }

    /** Listens to a socket; the caller closes it where this throws. */
    static TcpNewcomer of(SocketChannel socket, Selector selector, long timeoutNanos)
            throws IOException {
        socket.configureBlocking(false);
        String name = "tcp://" + socket.getRemoteAddress().toString().replaceFirst("^.*/", "");
        socket.register(selector, SelectionKey.OP_READ);
        return new TcpNewcomer(socket, name, Deadline.in(timeoutNanos));
    }

    SocketChannel socket() {
        return socket;
    }

    String name() {
        return name;
    }

    long remainingNanos() {
        return deadline.remainingNanos();
    }

    /**
     * Reads as much as one buffer holds.
     *
     * @return the first message once it is whole
     * @throws IOException where the peer has gone
     * @throws io.softdpu.core.DpuException INVALID_VALUE where it sends no control messages
     */
    @Nullable ControlMessage read() throws IOException {
        incoming.clear();
        int count = socket.read(incoming);
        incoming.flip();
        if (count < 0) {
            throw new EOFException("peer has gone before it has said anything");
        }
        return assembler.feed(incoming);
    }

    /** What came behind the first message. */
    ByteBuffer rest() {
        return incoming;
    }
}
