package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.error.RefuseCode;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.DescriptorCheck;
import io.softdpu.fabric.memory.ExaminedMemory;
import io.softdpu.fabric.memory.PeerMapping;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.text.Reason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Server side of a handshake: a connected client that must send its request, one frame, before the
 * deadline. All on the bus thread.
 */
final class IncomingHandshake implements BusLoop.Handler {
    private static final System.Logger LOG = System.getLogger(IncomingHandshake.class.getName());

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final int socket;
    private final PeerCredentials peer;
    private final @Nullable EndpointListener listener;
    private final long deadlineNanos;
    private @Nullable BusWatch watch;
    private boolean over;

    /** Mapping of the client's memory; null until its frame has arrived. */
    private @Nullable CompletableFuture<SharedSegment> mapping;

    private IncomingHandshake(
            Handshakes handshakes,
            int socket,
            PeerCredentials peer,
            @Nullable EndpointListener listener) {
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
        this.socket = socket;
        this.peer = peer;
        this.listener = listener;
        this.deadlineNanos = System.nanoTime() + handshakes.timeoutNanos();
    }

    /**
     * Takes over an accepted socket.
     *
     * @return false if the limit of epoll watches of this user is reached, which peers of the same
     *     user can cause: the client has been refused, and so would be the next
     */
    static boolean begin(Handshakes handshakes, int socket, @Nullable EndpointListener listener) {
        IncomingHandshake handshake;
        try {
            PeerCredentials peer = UnixSocket.peerCredentials(socket);
            handshake = new IncomingHandshake(handshakes, socket, peer, listener);
            if (peer.uid() != handshakes.uid()) {
                handshake.refuse(
                        RefuseCode.NOT_PERMITTED,
                        "fabric belongs to another user: uid="
                                + peer.uid()
                                + ", owner="
                                + handshakes.uid());
                return true;
            }
            if (!handshake.watch()) {
                return false;
            }
        } catch (RuntimeException e) {
            handshakes.threads().closer().closeSocket(socket);
            throw e;
        }
        handshakes.pending().add(handshake);
        handshake.onEvents(Poller.IN); // most have sent their frame already, and so need no watch
        return true;
    }

    /** Waits for the frame; if it cannot be watched, the client is refused. */
    private boolean watch() {
        try {
            BusWatch begun = threads.loop().join(this, socket, Poller.IN | Poller.RDHUP);
            begun.setDeadline(deadlineNanos);
            watch = begun;
        } catch (LinuxException e) {
            String reason =
                    "server cannot watch a further client: "
                            + Reason.of(e)
                            + ", limit=fs.epoll.max_user_watches of this user";
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () -> "client refused: pid=" + peer.pid() + ", " + reason);
            refuse(RefuseCode.OPERATING_SYSTEM, reason);
            return false;
        }
        return true;
    }

    int peerPid() {
        return peer.pid();
    }

    @Override
    public void onDeadline() {
        end(); // a client that sent nothing gets no frame, only the end of the socket
    }

    @Override
    public void onShutdown() {
        over();
        handshakes.pending().remove(this);
        threads.closer().closeSocket(socket);
    }

    /** Drops this client in favour of newer ones. */
    void evict() {
        end();
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
                end();
                return;
            }
            answer(message);
        } catch (FabricException e) {
            refuseAndClose(e);
        } catch (LinuxException e) {
            refuseAndClose(RefuseCode.OPERATING_SYSTEM, e);
        }
    }

    private void answer(ReceivedMessage message) {
        if (message.descriptorTableFull()) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "server has no descriptors left: limit=open files");
        }
        if (message.truncated()) {
            throw malformed("frame or descriptors truncated");
        }
        switch (Frame.decode(message.segment(), message.length())) {
            case Frame.Hello hello when listener != null -> join(hello, message, listener);
            case Frame.Lease lease when listener == null -> lease(lease, message);
            case Frame other ->
                    throw malformed("unexpected frame=" + other.getClass().getSimpleName());
        }
    }

    private void join(Frame.Hello hello, ReceivedMessage message, EndpointListener to) {
        requireDescriptors(message, 1);
        long allocatedBytes =
                DescriptorCheck.verify(
                        message.descriptor(0), hello.memoryBytes(), handshakes.maxJoiningBytes());
        ExaminedMemory memory =
                new ExaminedMemory(
                        message.takeDescriptor(0), hello.memoryBytes(), true, allocatedBytes);
        // No second frame is expected: until the memory is mapped only the deadline is watched.
        if (watch != null) {
            watch.unlisten();
        }
        mapping =
                PeerMapping.begin(threads, handshakes.mappedBytes(), peer.pid(), memory, () -> {});
        var _ =
                mapping.whenComplete((remote, failure) -> {
                    try {
                        mapped(hello, to, remote, failure);
                    } catch (RuntimeException e) { // a defect, which the future would keep
                        LOG.log(System.Logger.Level.ERROR, "client not taken: " + Reason.of(e), e);
                        end();
                    }
                });
    }

    /** Continues when the client's memory is mapped or mapping has failed. */
    private void mapped(
            Frame.Hello hello,
            EndpointListener to,
            @Nullable SharedSegment remote,
            @Nullable Throwable failure) {
        if (over) { // the mapping was cancelled and its worker releases it
            return;
        }
        if (remote == null) {
            refuseAndClose(
                    failure instanceof FabricException e
                            ? e
                            : new FabricException(
                                    FabricException.Kind.SYSTEM,
                                    "memory of a client cannot be mapped: cause="
                                            + Reason.of(failure)));
            return;
        }
        leave();
        Link link;
        try {
            link = Link.open(threads, socket, peer);
        } catch (LinuxException e) {
            remote.release(threads);
            refuseAndClose(RefuseCode.OPERATING_SYSTEM, e);
            return;
        }
        PendingLink pending = new PendingLink(threads, link, socket, remote, hello.payload());
        try {
            to.arriving(pending);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "listener failed: " + Reason.of(e), e);
            pending.refuse(RefuseCode.OPERATING_SYSTEM, "server failed: cause=" + Reason.of(e));
        }
    }

    private void lease(Frame.Lease wanted, ReceivedMessage message) {
        requireDescriptors(message, 0);
        ExportedRegion region = handshakes.exports().find(wanted);
        leave();
        region.grantLease(
                Link.open(threads, socket, peer),
                (grant, descriptors) ->
                        FrameSocket.send(socket, Frame.encode(grant), descriptors) == 0);
    }

    private static void requireDescriptors(ReceivedMessage message, int expected) {
        if (message.descriptors() != expected) {
            throw malformed("descriptors=" + message.descriptors() + ", expected=" + expected);
        }
    }

    private static FabricException malformed(String what) {
        return new FabricException(FabricException.Kind.MALFORMED, "handshake refused: " + what);
    }

    /** Stops watching the socket, which passes to its next owner. */
    private void leave() {
        over();
        handshakes.pending().remove(this);
        if (watch != null) {
            watch.end();
        }
    }

    /** Ends the handshake and cancels a mapping in progress. */
    private void over() {
        over = true;
        if (mapping != null) {
            mapping.cancel(false);
        }
    }

    private void end() {
        leave();
        threads.closer().closeSocket(socket);
    }

    private void refuseAndClose(FabricException e) {
        refuseAndClose(RefuseCode.codeOf(e), e);
    }

    private void refuseAndClose(int code, RuntimeException e) {
        LOG.log(
                System.Logger.Level.DEBUG,
                () -> "client refused: pid=" + peer.pid() + ", " + Reason.of(e));
        leave();
        refuse(code, Reason.of(e));
    }

    private void refuse(int code, String reason) {
        // If the client's socket is full or closed, the end of the socket tells it of the refusal.
        FrameSocket.send(socket, Frame.encode(new Frame.Refuse(code, reason)));
        threads.closer().closeSocket(socket);
    }
}
