package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * The listening end of a TCP channel. It takes one client; each further one gets an error_response
 * with FULL and is cut off.
 */
public final class TcpServerControlChannel extends TcpControlChannel {
    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private String peer = "";

    TcpServerControlChannel(
            ServerSocketChannel server, InetSocketAddress address, Selector selector) {
        super(selector);
        this.server = server;
        this.address = address;
    }

    /** Where it listens, with the real port where any was asked for. */
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public String description() {
        return peer.isEmpty() ? "client of tcp://" + ControlChannels.text(address) : peer;
    }

    @Override
    void pumpConnection() throws IOException {
        SocketChannel arrived = accept();
        if (arrived == null) {
            return;
        }
        if (socket() != null) {
            reject(arrived);
            return;
        }
        boolean taken = false;
        try {
            arrived.configureBlocking(false);
            peer = "tcp://" + arrived.getRemoteAddress().toString().replaceFirst("^.*/", "");
            connected(arrived);
            taken = true;
        } finally {
            if (!taken) { // it has gone already
                closeQuietly(arrived);
            }
        }
    }

    /** Null where nobody is there. Who cannot be let in is no reason to lose who is here. */
    private @Nullable SocketChannel accept() {
        try {
            return server.isOpen() ? server.accept() : null;
        } catch (IOException e) {
            if (socket() == null) {
                fail(
                        new DpuException(
                                Status.OPERATING_SYSTEM,
                                "client cannot be accepted: at="
                                        + ControlChannels.text(address)
                                        + ", reason="
                                        + e,
                                e));
            } else {
                System.getLogger(TcpServerControlChannel.class.getName())
                        .log(System.Logger.Level.WARNING, "no further client is heard", e);
                closeQuietly(server); // what stays to be accepted would wake for ever
            }
            return null;
        }
    }

    @Override
    DpuException notConnectedInTime(long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "no client came: at="
                        + ControlChannels.text(address)
                        + ", waited_ms="
                        + waitedNanos / 1_000_000);
    }

    @Override
    void closeTransport() {
        closeQuietly(server);
        super.closeTransport();
    }

    void register() throws IOException {
        server.register(selector, SelectionKey.OP_ACCEPT);
    }

    private void reject(SocketChannel arrived) {
        byte[] reason =
                ControlCodec.encode(
                        new ControlMessage(
                                0,
                                0,
                                ControlPayload.ErrorResponse.of(
                                        Status.FULL,
                                        "storage target serves another client: client="
                                                + description())));
        try {
            arrived.configureBlocking(false);
            // A fresh socket's buffer takes these few bytes; if not, the end of file must do.
            arrived.write(ByteBuffer.wrap(reason));
        } catch (IOException e) {
            System.getLogger(TcpServerControlChannel.class.getName())
                    .log(System.Logger.Level.DEBUG, "rejected client has gone already", e);
        } finally {
            closeQuietly(arrived);
        }
    }
}
