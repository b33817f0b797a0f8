package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Epoll;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.Socket;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Peer that sends and receives frames of the bus by hand, so that it can violate the protocol: one
 * socket, either connected to a name or serving one. One thread.
 */
final class HostilePeer implements AutoCloseable {
    /** Between two attempts, where nothing announces that there is room. */
    private static final long PAUSE_NANOS = 50_000;

    private final int listener;
    private final ReceivedMessage message = new ReceivedMessage(Frame.MAX_BYTES, 8);
    private int socket;
    private boolean closed;

    private HostilePeer(int listener, int socket) {
        this.listener = listener;
        this.socket = socket;
    }

    /** Connects to a name that a bus of the same folder serves. */
    static HostilePeer connect(Bus bus, String name) {
        int socket = UnixSocket.create();
        assertThat(UnixSocket.connect(socket, bus.fabricFolder().socketAddress(name))).isZero();
        return new HostilePeer(-1, socket);
    }

    /** The same where the name's backlog may be full: tries until there is room. */
    static HostilePeer connectPatiently(Bus bus, String name) {
        int socket = UnixSocket.create();
        String address = bus.fabricFolder().socketAddress(name);
        int error = onceThereIsRoom(() -> UnixSocket.connect(socket, address));
        assertThat(error).as("errno of connect").isZero();
        return new HostilePeer(-1, socket);
    }

    private static int onceThereIsRoom(IntSupplier call) {
        long begin = System.nanoTime();
        int error;
        while ((error = call.getAsInt()) == Errno.EAGAIN
                && System.nanoTime() - begin < Patience.DEADLINE.toNanos()) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return error;
    }

    /** Serves a name that others of the same folder may connect to. */
    static HostilePeer serve(Bus bus, String name) {
        int listener = UnixSocket.create();
        UnixSocket.bind(listener, bus.fabricFolder().socketAddress(name));
        Socket.listen(listener, 1);
        return new HostilePeer(listener, -1);
    }

    /** The name under which a bus asks for regions of another. */
    static String exporterName(RegionAddress.Id busId) {
        return "bus:" + busId;
    }

    /** Waits for a client. */
    void accept() {
        awaitReadable(listener);
        socket = Socket.accept(listener);
        assertThat(socket).as("accepted socket").isNotNegative();
    }

    void send(Frame frame, int... descriptors) {
        byte[] bytes = Frame.encode(frame);
        assertThat(
                        DescriptorPassing.send(
                                socket, MemorySegment.ofArray(bytes), bytes.length, descriptors))
                .as("errno of send")
                .isZero();
    }

    /** Sends bytes that may be no frame at all. */
    void sendBytes(byte[] bytes, int... descriptors) {
        assertThat(trySendBytes(bytes, descriptors)).as("errno of send").isZero();
    }

    /** The same where the other side may have ended; 0 or the error number. */
    int trySendBytes(byte[] bytes, int... descriptors) {
        if (bytes.length == 0) {
            return RawSocket.sendEmpty(socket);
        }
        return DescriptorPassing.send(
                socket, MemorySegment.ofArray(bytes), bytes.length, descriptors);
    }

    /** Waits for a frame; its descriptors are in {@link #message()}. */
    Frame receive() {
        awaitReadable(socket);
        int length = DescriptorPassing.receive(socket, message);
        assertThat(length).as("bytes received").isPositive();
        return Frame.decode(message.segment(), length);
    }

    /** Waits for the next frame, past doorbells; null at the end. */
    @Nullable Frame next() {
        long begin = System.nanoTime();
        while (true) {
            assertThat(System.nanoTime() - begin)
                    .as("nanoseconds until a frame comes")
                    .isLessThan(Patience.DEADLINE.toNanos());
            awaitReadable(socket);
            int length = DescriptorPassing.receive(socket, message);
            if (length <= 0) {
                return null;
            }
            if (length > 1) {
                return Frame.decode(message.segment(), length);
            }
        }
    }

    /** Waits until a message or the end has come, and leaves it there; whether it is a message. */
    boolean awaitMessage() {
        awaitReadable(socket);
        return RawSocket.peek(socket) > 0;
    }

    /** Sends as soon as there is room. */
    void sendPatiently(byte[] bytes) {
        int error = onceThereIsRoom(() -> trySendBytes(bytes));
        assertThat(error).as("errno of send").isZero();
    }

    /** Waits for a frame, or for the end; whether it was a frame. */
    boolean tryReceive() {
        awaitReadable(socket);
        return DescriptorPassing.receive(socket, message) > 0;
    }

    ReceivedMessage message() {
        return message;
    }

    /** Waits until the other side has closed. */
    void awaitEnd() {
        awaitReadable(socket);
        assertThat(DescriptorPassing.receive(socket, message)).isIn(0, -Errno.ECONNRESET);
    }

    private static void awaitReadable(int descriptor) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(descriptor, Epoll.IN, 0);
            assertThat(epoll.await((int) Patience.LIMIT.toMillis()))
                    .as("something arrives in time")
                    .isEqualTo(1);
        }
    }

    /** Once, however often it is called. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        message.close();
        if (socket >= 0) {
            FileDescriptors.close(socket);
        }
        if (listener >= 0) {
            FileDescriptors.close(listener);
        }
    }
}
