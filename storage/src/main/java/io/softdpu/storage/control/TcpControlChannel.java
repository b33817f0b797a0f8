package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** What both ends of a TCP channel share: a socket that never blocks and a selector to wait in. */
abstract class TcpControlChannel extends AbstractControlChannel {
    private static final int READ_BYTES = 16 << 10;

    final Selector selector;

    /** What has been read and not been taken yet. */
    final ByteBuffer incoming = ByteBuffer.allocate(READ_BYTES).limit(0);

    private final ArrayDeque<ByteBuffer> outgoing = new ArrayDeque<>();
    private @Nullable SocketChannel socket;

    TcpControlChannel(Selector selector) {
        this.selector = selector;
    }

    /** Goes on with becoming connected. */
    abstract void pumpConnection() throws IOException;

    @Override
    public final boolean isConnected() {
        return socket != null && !hasFailed();
    }

    @Override
    public final void wakeup() {
        selector.wakeup();
    }

    @Override
    final void pump() {
        if (hasFailed()) {
            return;
        }
        try {
            pumpConnection();
            if (socket != null) {
                write(socket);
                read(socket);
                armSocket(socket);
            }
        } catch (IOException e) {
            fail(peerGone(e));
        }
        if (hasFailed()) {
            closeQuietly(socket);
        }
    }

    /** As {@link #pump}: it runs nothing but this channel. */
    @Override
    final void look() {
        pump();
    }

    @Override
    void awaitTransport(long timeoutNanos) {
        try {
            if (timeoutNanos == NO_TIMEOUT) {
                selector.select();
            } else {
                // Rounded up: a wait of 0 would mean for ever, one cut short would spin.
                selector.select(timeoutNanos / 1_000_000 + 1);
            }
            selector.selectedKeys().clear();
        } catch (IOException e) {
            fail(new DpuException(Status.IO_FAILED, "selector failed: reason=" + e, e));
        }
    }

    @Override
    final void enqueue(byte[] frame) {
        outgoing.addLast(ByteBuffer.wrap(frame));
    }

    @Override
    final void push() {
        SocketChannel present = socket;
        if (present != null) {
            try {
                write(present);
            } catch (IOException e) {
                fail(peerGone(e));
            }
        }
    }

    /** What the socket does not take at once goes out when it is pumped next. */
    @Override
    final void transmit() {
        pump();
    }

    @Override
    final int unsent() {
        return outgoing.size();
    }

    /** From here on the peer is there. */
    final void connected(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.register(selector, SelectionKey.OP_READ);
        socket = channel;
    }

    final @Nullable SocketChannel socket() {
        return socket;
    }

    @Override
    void closeTransport() {
        closeQuietly(socket);
        closeQuietly(selector);
    }

    static void closeQuietly(@Nullable AutoCloseable resource) {
        if (resource == null) {
            return;
        }
        try {
            resource.close();
        } catch (Exception e) {
            // The descriptor is released all the same, and nobody is left who could act on it.
            System.getLogger(TcpControlChannel.class.getName())
                    .log(System.Logger.Level.DEBUG, "close failed: resource=" + resource, e);
        }
    }

    private void write(SocketChannel channel) throws IOException {
        while (true) {
            ByteBuffer first = outgoing.peekFirst();
            if (first == null) {
                return;
            }
            channel.write(first);
            if (first.hasRemaining()) {
                return;
            }
            outgoing.removeFirst();
        }
    }

    /** The buffer is left to be read from: what the inbox has no room for stays in it. */
    private void read(SocketChannel channel) throws IOException {
        while (!hasFailed()) {
            received(incoming);
            if (isInboxFull()) {
                return;
            }
            incoming.clear();
            int count = channel.read(incoming);
            incoming.flip();
            if (count < 0) {
                fail(peerGone(null));
            }
            if (count <= 0) {
                return;
            }
        }
    }

    private void armSocket(SocketChannel channel) {
        SelectionKey key = channel.keyFor(selector);
        if (key != null && key.isValid()) {
            key.interestOps(
                    SelectionKey.OP_READ | (outgoing.isEmpty() ? 0 : SelectionKey.OP_WRITE));
        }
    }
}
