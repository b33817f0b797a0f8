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
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The listening end of a TCP channel. It takes one client, the first that sends a whole control
 * message; each further one gets an error_response with FULL and is cut off.
 *
 * <p>To connect is not enough: anybody can, and keep silent. Until one has spoken, {@link
 * #WAITING_LIMIT} may wait, each for a limited time; who sends what is no control message, or goes,
 * is forgotten.
 */
public final class TcpServerControlChannel extends TcpControlChannel {
    /** Clients that may be connected and have said nothing; beyond that the oldest is dropped. */
    static final int WAITING_LIMIT = 16;

    /** Clients of one look, so that a flood does not keep those from being heard that are here. */
    private static final int ACCEPTS_AT_ONCE = 64;

    private static final System.Logger LOG =
            System.getLogger(TcpServerControlChannel.class.getName());

    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private final long firstMessageTimeoutNanos;
    private final ArrayDeque<TcpNewcomer> waiting = new ArrayDeque<>();
    private String peer = "";

    TcpServerControlChannel(
            ServerSocketChannel server,
            InetSocketAddress address,
            Selector selector,
            long firstMessageTimeoutNanos) {
        super(selector);
        this.server = server;
        this.address = address;
        this.firstMessageTimeoutNanos = firstMessageTimeoutNanos;
    }

    /** Where it listens, with the real port where any was asked for. */
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public String description() {
        return peer.isEmpty()
                ? "client of tcp://" + address.getHostString() + ":" + address.getPort()
                : peer;
    }

    @Override
    void pumpConnection() throws IOException {
        for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
            SocketChannel arrived = accept();
            if (arrived == null) {
                break;
            }
            if (socket() != null) {
                reject(arrived, Status.FULL, "storage target serves another client");
            } else {
                welcome(arrived);
            }
        }
        for (TcpNewcomer newcomer : List.copyOf(waiting)) {
            listenTo(newcomer);
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
                                "clients cannot be accepted: at="
                                        + ControlChannels.text(address)
                                        + ", reason="
                                        + e,
                                e));
            } else {
                LOG.log(System.Logger.Level.WARNING, "no further client is heard", e);
                closeQuietly(server); // what stays to be accepted would wake for ever
            }
            return null;
        }
    }

    @Override
    void awaitTransport(long timeoutNanos) {
        TcpNewcomer oldest = waiting.peekFirst();
        super.awaitTransport(
                oldest == null ? timeoutNanos : Math.min(timeoutNanos, oldest.remainingNanos()));
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
        waiting.forEach(newcomer -> closeQuietly(newcomer.socket()));
        waiting.clear();
        closeQuietly(server);
        super.closeTransport();
    }

    void register() throws IOException {
        server.register(selector, SelectionKey.OP_ACCEPT);
    }

    private void welcome(SocketChannel arrived) throws IOException {
        try {
            waiting.addLast(TcpNewcomer.of(arrived, selector, firstMessageTimeoutNanos));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "client has gone already", e);
            closeQuietly(arrived);
            return;
        }
        if (waiting.size() > WAITING_LIMIT) {
            // It may have spoken while others were let in; then it is the one.
            TcpNewcomer oldest = waiting.getFirst();
            listenTo(oldest);
            if (waiting.contains(oldest)) {
                drop(oldest, Status.FULL, "too many clients wait to be heard");
            }
        }
    }

    private void listenTo(TcpNewcomer newcomer) throws IOException {
        if (!waiting.contains(newcomer)) {
            return; // dropped, or another was chosen before
        }
        ControlMessage first;
        try {
            first = newcomer.read();
        } catch (DpuException e) {
            drop(newcomer, e.status(), String.valueOf(e.getMessage()));
            return;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "client is none: " + newcomer.name(), e);
            waiting.remove(newcomer);
            closeQuietly(newcomer.socket());
            return;
        }
        if (first != null) {
            choose(newcomer, first);
        } else if (newcomer.remainingNanos() == 0) {
            drop(newcomer, Status.TIME_OUT, "no whole control message came in time");
        }
    }

    private void choose(TcpNewcomer newcomer, ControlMessage first) throws IOException {
        waiting.remove(newcomer);
        peer = newcomer.name();
        for (TcpNewcomer late : List.copyOf(waiting)) {
            drop(late, Status.FULL, "storage target serves another client");
        }
        connected(newcomer.socket(), first, newcomer.rest());
    }

    private void drop(TcpNewcomer newcomer, Status status, String reason) {
        waiting.remove(newcomer);
        reject(newcomer.socket(), status, reason);
    }

    private void reject(SocketChannel unwanted, Status status, String reason) {
        byte[] answer =
                ControlCodec.encode(
                        new ControlMessage(
                                0,
                                0,
                                ControlPayload.ErrorResponse.of(
                                        status, reason + ": client=" + description())));
        try {
            unwanted.configureBlocking(false);
            // A fresh socket's buffer takes these few bytes; if not, the end of file must do.
            unwanted.write(ByteBuffer.wrap(answer));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "rejected client has gone already", e);
        } finally {
            closeQuietly(unwanted);
        }
    }
}
