package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.fabric.thread.DescriptorCloser;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.text.Reason;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Client side of a handshake, for an import: sends one frame to a name and receives the one frame
 * of the reply, under a deadline. All on the bus thread.
 */
final class OutgoingHandshake implements BusLoop.Handler {
    /** Delay before connecting again to a full backlog. */
    private static final long RETRY_NANOS = 5_000_000;

    /** Upper bound of timeouts: 73 years, so that sums with the clock cannot overflow. */
    private static final long MAX_TIMEOUT_NANOS = 1L << 61;

    /** A reply, and who has sent it; valid while it is handled. */
    record Reply(Frame frame, ReceivedMessage message, int socket, PeerCredentials peer) {}

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final String name;
    private final Import<?> asker;
    private final byte[] request;
    private final long deadlineNanos;
    private int socket = -1;
    private @Nullable BusWatch watch;
    private boolean connected;

    /**
     * Retained until it was sent: the caller may release it before, and then the number of its
     * descriptor could stand for a file that the peer must not get.
     */
    private @Nullable SharedSegment enclosed;

    /** Takes a reference to the enclosed memory, if there is any. */
    OutgoingHandshake(
            Handshakes handshakes,
            Import<?> asker,
            String name,
            Frame request,
            @Nullable SharedSegment enclosed,
            long timeoutNanos) {
        this.request = Frame.encode(request);
        if (enclosed != null && !enclosed.retain()) {
            throw SharedSegment.gone();
        }
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
        this.asker = asker;
        this.name = name;
        this.enclosed = enclosed;
        this.deadlineNanos = System.nanoTime() + Math.min(timeoutNanos, MAX_TIMEOUT_NANOS);
    }

    /** Begins the handshake. Any thread. */
    void begin() {
        threads.loop().execute(this::start);
    }

    private void leave() {
        if (watch != null) {
            watch.end();
        }
    }

    private void releaseEnclosed() {
        if (enclosed != null) {
            enclosed.release(threads);
            enclosed = null;
        }
    }

    @Override
    public void onDeadline() {
        if (!connected && System.nanoTime() - deadlineNanos < 0) {
            retry();
            return;
        }
        fail(
                new FabricException(
                        FabricException.Kind.TIMED_OUT,
                        "peer did not reply in time: name=" + name));
    }

    @Override
    public void onShutdown() {
        fail(new FabricException(FabricException.Kind.CLOSED, "bus closed: name=" + name));
    }

    @Override
    public void onEvents(int events) {
        ReceivedMessage message = handshakes.receiveBuffer();
        int received = DescriptorPassing.receiveWhole(socket, message);
        try (message) {
            if (received == -Errno.EAGAIN) {
                return;
            }
            if (received <= 0) {
                throw new FabricException(
                        FabricException.Kind.PEER_GONE, "peer ended the handshake: name=" + name);
            }
            if (message.descriptorTableFull()) {
                throw new FabricException(
                        FabricException.Kind.SYSTEM,
                        "no descriptors left: limit=open files, name=" + name);
            }
            if (message.truncated()) {
                throw new FabricException(
                        FabricException.Kind.MALFORMED,
                        "reply refused: frame or descriptors truncated, name=" + name);
            }
            Frame frame = Frame.decode(message.segment(), message.length());
            if (frame instanceof Frame.Refuse(int code, String text)) {
                throw FabricException.refused(code, text);
            }
            PeerCredentials peer = UnixSocket.peerCredentials(socket);
            leave();
            asker.replied(new Reply(frame, message, socket, peer));
            socket = -1;
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void start() {
        if (threads.closed()) {
            onShutdown();
            return;
        }
        if (asker.isClosed()) { // the command of the close releases the rest
            return;
        }
        if (!threads.closer().hasCapacity()) {
            fail(
                    new FabricException(
                            FabricException.Kind.LIMIT,
                            "too many descriptors of peers wait to be closed: name="
                                    + name
                                    + ", limit="
                                    + DescriptorCloser.WAITING_LIMIT));
            return;
        }
        try {
            socket = UnixSocket.create();
            BusWatch begun = threads.loop().join(this);
            watch = begun;
            tryConnect(begun);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void retry() {
        try {
            tryConnect(Objects.requireNonNull(watch, "has begun"));
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void tryConnect(BusWatch begun) {
        int error = handshakes.folder().connect(socket, name);
        if (error == Errno.EAGAIN) { // the listener's backlog is full
            long retryNanos = System.nanoTime() + RETRY_NANOS;
            begun.setDeadline(retryNanos - deadlineNanos < 0 ? retryNanos : deadlineNanos);
            return;
        }
        if (error != 0) {
            fail(cannotConnect(error));
            return;
        }
        connected = true;
        PeerCredentials peer = UnixSocket.peerCredentials(socket);
        if (peer.uid() != handshakes.uid()) {
            fail(
                    new FabricException(
                            FabricException.Kind.NOT_PERMITTED,
                            "name is served by another user: name="
                                    + name
                                    + ", uid="
                                    + peer.uid()
                                    + ", expected="
                                    + handshakes.uid()));
            return;
        }
        begun.listen(socket, Poller.IN | Poller.RDHUP);
        begun.setDeadline(deadlineNanos);
        int sent =
                enclosed == null
                        ? FrameSocket.send(socket, request)
                        : FrameSocket.send(socket, request, enclosed.descriptor());
        releaseEnclosed();
        if (sent != 0) {
            fail(
                    new FabricException(
                            FabricException.Kind.PEER_GONE,
                            "peer ended the handshake: name="
                                    + name
                                    + ", errno="
                                    + Errno.name(sent)));
        }
    }

    private FabricException cannotConnect(int error) {
        if (error == Errno.ENOENT || error == Errno.ECONNREFUSED) {
            return new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "no process serves this name: name="
                            + name
                            + ", folder="
                            + handshakes.folder().path());
        }
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "cannot connect: name=" + name + ", errno=" + Errno.name(error));
    }

    private FabricException system(RuntimeException cause) {
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "handshake failed: name=" + name + ", " + Reason.of(cause),
                cause);
    }

    /** Ends the handshake, unless it has ended. */
    void fail(RuntimeException cause) {
        leave();
        if (socket >= 0) {
            threads.closer().closeSocket(socket);
            socket = -1;
        }
        releaseEnclosed();
        asker.failed(cause instanceof LinuxException ? system(cause) : cause);
    }
}
