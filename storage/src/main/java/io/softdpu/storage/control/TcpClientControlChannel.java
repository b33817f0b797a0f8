package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * The connecting end of a TCP channel.
 *
 * <p>While nobody listens at the address, it tries again every 100 ms, as often as the guide's
 * application looks: there is no event that tells when somebody begins to listen.
 */
public final class TcpClientControlChannel extends TcpControlChannel {
    private static final long RETRY_NANOS = 100_000_000L;

    /** Said at once: a service may have to wait for its initiator before it asks for anything. */
    private static final byte[] HELLO =
            ControlCodec.encode(new ControlMessage(0, 0, new ControlPayload.Hello()));

    private final InetSocketAddress address;
    private final SocketSource sockets;
    private @Nullable SocketChannel attempt;
    private @Nullable TcpWatch watch;
    private long nextAttemptNanos = System.nanoTime();
    private String lastProblem = "no answer";

    /** Where the socket of an attempt comes from; it must not be connected. */
    @FunctionalInterface
    interface SocketSource {
        SocketChannel open() throws IOException;
    }

    TcpClientControlChannel(InetSocketAddress address, Selector selector) {
        this(address, selector, SocketChannel::open);
    }

    /** With sockets of a test's own. */
    TcpClientControlChannel(InetSocketAddress address, Selector selector, SocketSource sockets) {
        super(selector);
        this.address = address;
        this.sockets = sockets;
    }

    /**
     * Has a hook run on another thread whenever {@link #poll} may have news, for an owner that
     * waits for something else than this channel. The watching thread ends with the channel.
     *
     * @param hook must not block; for example {@code ProgressEngine::wake}
     * @throws DpuException BAD_STATE where the channel is watched already or not connected,
     *     OPERATING_SYSTEM
     */
    public void watch(Runnable hook) {
        SocketChannel connected = socket();
        if (watch != null || connected == null) {
            throw new DpuException(
                    Status.BAD_STATE, "channel cannot be watched now: peer=" + description());
        }
        if (hasFailed()) {
            // The server went at once, perhaps with a word why. Poll tells; there is no more to
            // hear.
            hook.run();
            return;
        }
        watch = TcpWatch.start(connected, hook);
    }

    @Override
    public String description() {
        return "tcp://" + address.getHostString() + ":" + address.getPort();
    }

    @Override
    void pumpConnection() throws IOException {
        if (socket() != null) {
            if (watch != null) {
                watch.rearm();
            }
            return;
        }
        if (attempt == null && System.nanoTime() - nextAttemptNanos >= 0) {
            begin();
        }
        if (attempt != null) {
            proceed(attempt);
        }
    }

    @Override
    void awaitTransport(long timeoutNanos) {
        boolean idle = socket() == null && attempt == null;
        long untilRetry = Math.max(0, nextAttemptNanos - System.nanoTime());
        super.awaitTransport(idle ? Math.min(timeoutNanos, untilRetry) : timeoutNanos);
    }

    @Override
    DpuException notConnectedInTime(long waitedNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "storage target did not answer: address="
                        + description()
                        + ", waited_ms="
                        + waitedNanos / 1_000_000
                        + ", last="
                        + lastProblem);
    }

    @Override
    void closeTransport() {
        closeQuietly(watch);
        closeQuietly(attempt);
        super.closeTransport();
    }

    private void begin() throws IOException {
        if (address.isUnresolved()) {
            fail(new DpuException(Status.NOT_FOUND, "host is unknown: address=" + description()));
            return;
        }
        nextAttemptNanos = System.nanoTime() + RETRY_NANOS;
        SocketChannel created;
        try {
            created = sockets.open();
        } catch (IOException e) {
            // For want of descriptors, for example: no matter of the peer's.
            fail(
                    new DpuException(
                            Status.OPERATING_SYSTEM,
                            "socket could not be opened: for=" + description() + ", reason=" + e,
                            e));
            return;
        }
        attempt = created;
        created.configureBlocking(false);
        created.register(selector, SelectionKey.OP_CONNECT);
        try {
            created.connect(address);
        } catch (IOException e) {
            giveUpAttempt(e);
        }
    }

    private void proceed(SocketChannel pending) throws IOException {
        try {
            if (pending.finishConnect()) {
                requireAnother(pending);
                connected(pending); // an attempt still, where this fails
                attempt = null;
                enqueue(HELLO);
            }
        } catch (IOException e) {
            giveUpAttempt(e);
        }
    }

    /**
     * Where nobody listens at a port from which the system takes those of clients, a socket may get
     * that very port, and be connected to itself.
     *
     * @throws ConnectException if it is
     */
    private static void requireAnother(SocketChannel connected) throws IOException {
        if (connected.getLocalAddress().equals(connected.getRemoteAddress())) {
            throw new ConnectException("Connection refused: connected to itself");
        }
    }

    private void giveUpAttempt(IOException problem) {
        lastProblem = String.valueOf(problem.getMessage());
        closeQuietly(attempt);
        attempt = null;
    }
}
