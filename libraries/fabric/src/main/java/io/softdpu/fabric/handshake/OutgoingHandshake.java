package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
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
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Client side of a handshake: sends one frame to a name and receives the one frame of the reply,
 * under a deadline. Its result is a future that completes on the bus thread. All on the bus thread.
 */
final class OutgoingHandshake<T> implements BusLoop.Handler {
    /** Delay before connecting again to a full backlog. */
    private static final long RETRY_NANOS = 5_000_000;

    /** Upper bound of timeouts: 73 years, so that sums with the clock cannot overflow. */
    private static final long MAX_TIMEOUT_NANOS = 1L << 61;

    /**
     * Validates a reply and makes the result; takes the descriptors that it needs out of the
     * message.
     */
    interface Reply<T> {
        /** Makes the result, which then owns the socket, unless this throws. */
        T take(Frame frame, ReceivedMessage message, int socket, PeerCredentials peer);

        /** Releases a result that is not needed any more. */
        void discard(T unwanted);
    }

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final String name;
    private final byte[] request;
    private final int[] descriptors;
    private final Reply<T> reply;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final long deadlineNanos;
    private int socket = -1;
    private @Nullable BusWatch watch;
    private boolean connected;
    private Runnable descriptorsUnused = () -> {};

    OutgoingHandshake(
            Handshakes handshakes,
            String name,
            byte[] request,
            int[] descriptors,
            long timeoutNanos,
            Reply<T> reply) {
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
        this.name = name;
        this.request = request;
        this.descriptors = descriptors;
        this.reply = reply;
        this.deadlineNanos = System.nanoTime() + Math.min(timeoutNanos, MAX_TIMEOUT_NANOS);
    }

    CompletableFuture<T> begin() {
        return begin(() -> {});
    }

    /**
     * Begins the handshake.
     *
     * @param descriptorsUnused runs once, before the result completes, when the descriptors are no
     *     longer needed
     */
    CompletableFuture<T> begin(Runnable descriptorsUnused) {
        this.descriptorsUnused = descriptorsUnused;
        threads.loop().execute(this::start);
        var _ =
                result.whenComplete((_, _) -> {
                    if (result.isCancelled()) {
                        threads.loop().execute(() -> fail(new CancellationException()));
                    }
                });
        return result;
    }

    private void leave() {
        if (watch != null) {
            watch.end();
        }
    }

    private void releaseDescriptors() {
        Runnable once = descriptorsUnused;
        descriptorsUnused = () -> {};
        once.run();
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
            T made = reply.take(frame, message, socket, peer);
            socket = -1;
            if (!result.complete(made)) {
                reply.discard(made);
            }
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    private void start() {
        if (threads.closed()) {
            onShutdown();
            return;
        }
        if (result.isDone()) { // cancelled; the command of the cancellation releases the rest
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
        int sent = FrameSocket.send(socket, request, descriptors);
        releaseDescriptors();
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

    private void fail(RuntimeException cause) {
        leave();
        if (socket >= 0) {
            threads.closer().closeSocket(socket);
            socket = -1;
        }
        releaseDescriptors();
        result.completeExceptionally(cause instanceof LinuxException ? system(cause) : cause);
    }
}
