package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.ConnectRequest;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Request of a peer for a connection to a port of {@link Rdma#listen}. It waits until it is
 * {@linkplain #accept accepted} or {@linkplain #reject rejected}, the peer's timeout ends it, or
 * the instance stops.
 *
 * <p>Thread: that of the instance's engine, inside progress or outside.
 */
public final class RdmaConnectionRequest {
    private final RdmaContext rdma;
    private final int provider;
    private final ConnectRequest request;
    private @Nullable String answer;

    RdmaConnectionRequest(RdmaContext rdma, int provider, ConnectRequest request) {
        this.rdma = rdma;
        this.provider = provider;
        this.request = request;
    }

    /** The instance that listens. */
    public Rdma context() {
        return rdma;
    }

    /** The port to which the peer connects. */
    public int port() {
        return request.port();
    }

    /**
     * Address of the device from which the peer connects, as the peer states it: its IPv4 address
     * if the peer connects to the IPv4 address of this device, or to a GID that maps it, and its
     * IPv6 address otherwise.
     */
    public InetAddress peerAddress() {
        return request.peerAddress();
    }

    /**
     * A copy of the data that the peer's program passed to {@link Rdma#connect(RdmaAddress,
     * byte[])}; of a program that is none of softdpu all 56 bytes of its message, see {@link
     * Rdma#listen}.
     */
    public byte[] privateData() {
        return request.privateData();
    }

    /** Whether it waits for its answer; false after that, and after its end, seen by progress. */
    public boolean isPending() {
        return answer == null && !request.hasEnded();
    }

    /**
     * Accepts the request. The connection is {@linkplain RdmaConnection.State#CONNECTING
     * connecting} until progress has established it. If the context is STARTING it becomes RUNNING:
     * at once inside progress, otherwise in the next one. The peer is notified after that, in a
     * later progress, so receives that are posted in this request's callback after the call, or in
     * the callback for the change of state, are there before its first message.
     *
     * <p>A connection that is not established within the connect timeout fails, and the context
     * continues.
     *
     * <p>What the peer grants is known from the request, but for one that is none of softdpu, which
     * refuses tasks itself, and gets the private data with padding: see {@link Rdma#listen}.
     *
     * @param privateData for the peer's program, at most {@link Rdma#MAX_ACCEPT_DATA_BYTES}: an
     *     export of an mmap fits
     * @throws DpuException INVALID_VALUE if there is too much data; BAD_STATE if it was answered
     *     before, or the instance is stopping or was stopped; CONNECTION_RESET if the peer has
     *     ended it; FULL if the instance has all its connections; NOT_SUPPORTED if the MTU of the
     *     device's interface is too small for any path MTU; NO_MEMORY, OPERATING_SYSTEM;
     *     NOT_PERMITTED from another thread
     */
    public RdmaConnection accept(byte[] privateData) {
        return rdma.accept(this, privateData);
    }

    /**
     * Rejects the request: the peer's connection fails with CONNECTION_ABORTED.
     *
     * @param privateData for the peer's program, at most {@link Rdma#MAX_REJECT_DATA_BYTES}
     * @throws DpuException INVALID_VALUE if there is too much data; BAD_STATE if it was answered
     *     before, or the instance is stopping or was stopped; CONNECTION_RESET if the peer has
     *     ended it; NOT_PERMITTED from another thread
     */
    public void reject(byte[] privateData) {
        rdma.reject(this, privateData);
    }

    @Override
    public String toString() {
        return Text.format(
                "request of %s to port %d of %s", peerAddress().getHostAddress(), port(), rdma);
    }

    // ---- for the instance ----

    int provider() {
        return provider;
    }

    ConnectRequest request() {
        return request;
    }

    /** Refuses a second answer, and an answer to a request that has ended. */
    void requirePending() {
        String given = answer;
        if (given != null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "RDMA connection request was answered before: request=%s, answer=%s",
                            this, given));
        }
        if (request.hasEnded()) {
            throw new DpuException(
                    Status.CONNECTION_RESET,
                    Text.format(
                            "RDMA connection request has ended: request=%s, expected=an answer"
                                    + " before the timeout of the peer",
                            this));
        }
    }

    void answered(String given) {
        answer = given;
    }
}
