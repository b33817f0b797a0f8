package io.softdpu.storage.control;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Where the clients of a TCP server come in: a listening socket that never blocks.
 *
 * <p>It is asked first whether somebody knocks, and then to let in: without a free descriptor the
 * system refuses to accept before it looks whether there is anybody. One thread.
 */
class TcpDoor implements AutoCloseable {
    /**
     * Connects of one moment that wait to be accepted; the kernel may allow less. Beyond that a
     * client's first packet is lost, and it tries again after a second, then after two more.
     */
    private static final int BACKLOG = 1024;

    private final ServerSocketChannel server;
    private final Selector knocks;
    private final SelectionKey wakening;

    /**
     * Listens.
     *
     * @param selector woken when somebody knocks
     * @throws IOException where the address cannot be had; nothing is left then
     */
    TcpDoor(InetSocketAddress address, Selector selector) throws IOException {
        ServerSocketChannel created = null;
        Selector asked = null;
        boolean listening = false;
        try {
            created = ServerSocketChannel.open();
            asked = Selector.open();
            // A port whose last connection is still in TIME_WAIT is free for the next start.
            created.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            created.configureBlocking(false);
            created.bind(address, BACKLOG);
            created.register(asked, SelectionKey.OP_ACCEPT);
            wakening = created.register(selector, SelectionKey.OP_ACCEPT);
            server = created;
            knocks = asked;
            listening = true;
        } finally {
            if (!listening) {
                TcpControlChannel.closeQuietly(created);
                TcpControlChannel.closeQuietly(asked);
            }
        }
    }

    /** Where it listens, with the real port where any was asked for. */
    final InetSocketAddress address() throws IOException {
        return (InetSocketAddress) server.getLocalAddress();
    }

    /** Whether somebody waits to be let in. */
    final boolean isKnockedAt() throws IOException {
        boolean knocking = knocks.selectNow() > 0;
        knocks.selectedKeys().clear();
        return knocking;
    }

    /**
     * Lets somebody in.
     *
     * @return null where nobody is there any more
     * @throws IOException for want of descriptors, for example; whoever knocks goes on
     */
    @Nullable SocketChannel accept() throws IOException {
        return server.accept();
    }

    /** Whether knocking wakes from now on. */
    final void wakes(boolean wakes) {
        wakening.interestOps(wakes ? SelectionKey.OP_ACCEPT : 0);
    }

    @Override
    public final void close() {
        TcpControlChannel.closeQuietly(server);
        TcpControlChannel.closeQuietly(knocks);
    }
}
