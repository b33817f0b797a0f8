package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.TcpSocket;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
    private @Nullable TcpStream attempt;
    private long nextAttemptNanos = System.nanoTime();
    private String lastProblem = "no answer";

    /** The source of the socket of an attempt, which must not be connected. */
    @FunctionalInterface
    interface SocketSource {
        /**
         * Opens a socket.
         *
         * @param address of the family that it is for
         * @throws LinuxException for want of descriptors, for example
         */
        int open(InetAddress address);
    }

    TcpClientControlChannel(ProgressEngine engine, InetSocketAddress address) {
        this(engine, address, TcpSocket::create);
    }

    /** With sockets of a test's own. */
    TcpClientControlChannel(
            ProgressEngine engine, InetSocketAddress address, SocketSource sockets) {
        super(engine);
        this.address = address;
        this.sockets = sockets;
    }

    @Override
    public String description() {
        return "tcp://" + address.getHostString() + ":" + address.getPort();
    }

    @Override
    void pumpConnection() {
        if (stream() != null) {
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
    long untilDeadlineNanos() {
        return stream() == null && attempt == null
                ? Math.max(0, nextAttemptNanos - System.nanoTime())
                : NO_TIMEOUT;
    }

    @Override
    void stopWatching() {
        close(attempt);
        attempt = null;
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
        stopWatching();
        super.closeTransport();
    }

    private void begin() {
        InetAddress host = address.getAddress();
        if (host == null) {
            fail(new DpuException(Status.NOT_FOUND, "host is unknown: address=" + description()));
            return;
        }
        nextAttemptNanos = System.nanoTime() + RETRY_NANOS;
        int socket;
        try {
            socket = sockets.open(host);
        } catch (LinuxException e) {
            // For want of descriptors, for example: no matter of the peer's.
            fail(
                    new DpuException(
                            Status.OPERATING_SYSTEM,
                            "socket could not be opened: for="
                                    + description()
                                    + ", reason="
                                    + Errno.text(e.errno()),
                            e));
            return;
        }
        TcpStream created = new TcpStream(engine, socket, this::ready);
        attempt = created;
        try {
            created.connect(address);
            created.watch().setInterest(DescriptorWatch.WRITABLE);
        } catch (IOException e) {
            giveUpAttempt(e);
        }
    }

    private void proceed(TcpStream pending) {
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
    private static void requireAnother(TcpStream connected) throws IOException {
        if (connected.localAddress().equals(connected.remoteAddress())) {
            throw new ConnectException("Connection refused: connected to itself");
        }
    }

    private void giveUpAttempt(IOException problem) {
        lastProblem = String.valueOf(problem.getMessage());
        stopWatching();
    }
}
