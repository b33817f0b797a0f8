package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.Errno;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Client that has completed its handshake and waits to be accepted or refused. Any thread may
 * decide, once; a second decision is an {@link IllegalStateException}.
 */
public final class PendingLink {
    private final BusThreads threads;
    private final Link link;
    private final int socket;
    private final SharedSegment remote;
    private final byte[] payload;
    private final AtomicBoolean decided = new AtomicBoolean();

    PendingLink(BusThreads threads, Link link, int socket, SharedSegment remote, byte[] payload) {
        this.threads = threads;
        this.link = link;
        this.socket = socket;
        this.remote = remote;
        this.payload = payload;
    }

    /** The client's payload; unchecked beyond its length. */
    public byte[] payload() {
        return payload.clone();
    }

    /** Size of the client's inbound memory. */
    public long remoteBytes() {
        return remote.sizeBytes();
    }

    /** Process id of the client. */
    public int peerPid() {
        return link.peerPid();
    }

    /** User id of the client. */
    public int peerUid() {
        return link.peerUid();
    }

    /** Whether the client has disconnected meanwhile. */
    public boolean peerGone() {
        return link.peerGone();
    }

    /**
     * Runs the callback once when the client disconnects before it is decided on, or later; on the
     * bus thread, or at once if it has gone. For a server that may take long to decide.
     */
    public void onPeerGone(Runnable callback) {
        link.onPeerGone(callback);
    }

    /**
     * Accepts the client. The inbound memory stays the caller's and is sealed; the attachment's
     * link and memory become the caller's.
     *
     * @throws FabricException PEER_GONE if the client has disconnected; NOT_SUPPORTED if the memory
     *     is exported read-only; the client's link and memory are released then
     */
    public Attachment accept(byte[] reply, SharedSegment inbound) {
        decide();
        try {
            inbound.seal(false);
        } catch (RuntimeException e) {
            abandon();
            throw e;
        }
        byte[] frame = Frame.encode(new Frame.Welcome(inbound.sizeBytes(), reply));
        int error =
                link.peerGone()
                        ? Errno.EPIPE
                        : FrameSocket.send(socket, frame, inbound.descriptor());
        if (error != 0) {
            abandon();
            throw new FabricException(
                    FabricException.Kind.PEER_GONE,
                    "client gave up before it was accepted: pid=" + link.peerPid());
        }
        return new Attachment(link, remote, payload);
    }

    /**
     * Refuses the client.
     *
     * @param code a DOCA status number other than 0
     * @param reason {@code reason: key=value}; cut after 1,024 bytes
     */
    public void refuse(int code, String reason) {
        decide();
        if (!link.peerGone()) {
            // Errors need no handling: closing the link tells the client of the refusal, too.
            FrameSocket.send(socket, Frame.encode(new Frame.Refuse(code, reason)));
        }
        abandon();
    }

    private void abandon() {
        remote.release(threads);
        link.close();
    }

    private void decide() {
        if (!decided.compareAndSet(false, true)) {
            throw new IllegalStateException("client was accepted or refused before");
        }
    }
}
