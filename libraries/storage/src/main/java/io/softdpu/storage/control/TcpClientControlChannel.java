package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.TcpSocket;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Client side of a TCP control channel.
 *
 * <p>While the address refuses connections, it retries every 100 ms, like the guide's application:
 * there is no event for the start of a listener.
 */
public final class TcpClientControlChannel extends TcpControlChannel {
    private static final long RETRY_NANOS = 100_000_000L;

    /** Sent at once: a service may have to wait for its initiator before its first request. */
    private static final byte[] HELLO =
            ControlCodec.encode(new ControlMessage(0, 0, new ControlPayload.Hello()));

    private final InetSocketAddress address;
    private final SocketSource sockets;
    private @Nullable TcpStream attempt;
    private long nextAttemptNanos = System.nanoTime();
    private String lastProblem = "no answer";

    /** Factory of unconnected sockets, one per attempt. */
    @FunctionalInterface
    interface SocketSource {
        /**
         * Opens a socket.
         *
         * @param address determines the address family
         * @throws LinuxException for example, if no descriptor is free
         */
        int open(InetAddress address);
    }

    TcpClientControlChannel(ProgressEngine engine, InetSocketAddress address) {
        this(engine, address, TcpSocket::create);
    }

    /** For tests, with their own sockets. */
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
            finishAttempt(attempt);
        }
    }

    @Override
    long untilDeadlineNanos() {
        return stream() == null && attempt == null
                ? Math.max(0, nextAttemptNanos - System.nanoTime())
                : Long.MAX_VALUE;
    }

    @Override
    void stopWatching() {
        close(attempt);
        attempt = null;
    }

    @Override
    DpuException connectTimedOut(Duration waited) {
        return new DpuException(
                Status.TIME_OUT,
                "storage target did not reply: address="
                        + description()
                        + ", waitedMillis="
                        + waited.toMillis()
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
            fail(
                    new DpuException(
                            Status.NOT_FOUND,
                            "host is unknown: address="
                                    + description()
                                    + ", expected=an address, or a name that resolves"));
            return;
        }
        nextAttemptNanos = System.nanoTime() + RETRY_NANOS;
        int socket;
        try {
            socket = sockets.open(host);
        } catch (LinuxException e) {
            // A local failure, for example no free descriptor.
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
            abandonAttempt(e);
        }
    }

    private void finishAttempt(TcpStream pending) {
        try {
            if (pending.finishConnect()) {
                requireNotSelf(pending);
                connected(pending); // stays an attempt if this fails
                attempt = null;
                enqueue(HELLO);
            }
        } catch (IOException e) {
            abandonAttempt(e);
        }
    }

    /**
     * If nothing listens at a port of the ephemeral range, the system may assign that port to the
     * client socket, which is then connected to itself.
     *
     * @throws ConnectException if it is
     */
    private static void requireNotSelf(TcpStream connected) throws IOException {
        if (connected.localAddress().equals(connected.remoteAddress())) {
            throw new ConnectException("Connection refused: connected to itself");
        }
    }

    private void abandonAttempt(IOException problem) {
        lastProblem = Reason.of(problem);
        stopWatching();
    }
}
