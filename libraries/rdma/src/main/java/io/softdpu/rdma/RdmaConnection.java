package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.ProviderConnection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One of the two ends of a reliable connection (RC, the only transport of the RDMA guide). Made by
 * {@link Rdma#exportConnection()}, which readies this end; {@link Rdma#connect} gives it the other.
 *
 * <p>Work of one connection is executed and completed in the order in which it was submitted.
 *
 * <p>Thread: that of the instance's engine. The connection belongs to its instance and ends with
 * it.
 */
public final class RdmaConnection {
    /** Where a connection is in its life. */
    public enum State {
        /** This end is ready, and its blob can be given to a peer. */
        EXPORTED,
        /** The peer's blob is here; the two ends are getting hold of each other. */
        CONNECTING,
        /** Tasks can be submitted. */
        CONNECTED,
        /** Ended in good order, by either side. */
        DISCONNECTED,
        /** Ended by a failure; {@link #failure()} and {@link #failureReason()} say why. */
        FAILED
    }

    private final RdmaContext rdma;
    private final int id;
    private final @Nullable ProviderConnection[] halves;
    private byte[] blob = new byte[0];
    private State state = State.EXPORTED;
    private @Nullable ProviderConnection chosen;
    private Permissions peerPermissions = Permissions.LOCAL_READ_ONLY;
    private Status failure = Status.SUCCESS;
    private String failureReason = "";
    private long userData;

    RdmaConnection(RdmaContext rdma, int id, int providers) {
        this.rdma = rdma;
        this.id = id;
        this.halves = new @Nullable ProviderConnection[providers];
    }

    /**
     * What the peer's {@link Rdma#connect} needs. The application carries it there; it is good for
     * one peer, which may be in another process of this machine. A copy.
     */
    public byte[] blob() {
        return blob.clone();
    }

    /** A number of this connection within its instance, in messages. */
    public int id() {
        return id;
    }

    /** Where it is in its life. */
    public State state() {
        return state;
    }

    /**
     * Why it {@linkplain State#FAILED failed}, else SUCCESS: CONNECTION_RESET (the peer or its
     * memory has gone), IO_FAILED (the peer could not take a message), TOO_BIG (a message did not
     * fit the receive here), AUTHENTICATION (whoever came was not the one whose blob was
     * connected), UNEXPECTED (the peer broke the protocol), or what kept it from connecting.
     */
    public Status failure() {
        return failure;
    }

    /** The same for people, as {@code reason: key=value}; empty unless it failed. */
    public String failureReason() {
        return failureReason;
    }

    /** The instance that it belongs to. */
    public Rdma context() {
        return rdma;
    }

    /** The number that the user has attached; 0 at first. */
    public long userData() {
        return userData;
    }

    /**
     * Attaches a number.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void setUserData(long userData) {
        rdma.requireThread();
        this.userData = userData;
    }

    /**
     * Ends the connection in good order, in a later progress: its tasks in flight fail with
     * CONNECTION_ABORTED, receives stay posted, and the peer sees it DISCONNECTED. Does nothing if
     * it has ended.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void disconnect() {
        rdma.disconnect(this);
    }

    @Override
    public String toString() {
        return "connection " + id + " of " + rdma + " (" + state + ")";
    }

    // ---- for the instance ----

    boolean ended() {
        return state == State.DISCONNECTED || state == State.FAILED;
    }

    void setBlob(byte[] encoded) {
        blob = encoded;
    }

    void setHalf(int provider, ProviderConnection half) {
        halves[provider] = half;
    }

    @Nullable ProviderConnection half(int provider) {
        return halves[provider];
    }

    /** Keeps this provider's half and closes the others. */
    ProviderConnection choose(int provider, Permissions grantedByPeer) {
        ProviderConnection half = Objects.requireNonNull(halves[provider]);
        chosen = half;
        peerPermissions = grantedByPeer;
        for (int i = 0; i < halves.length; i++) {
            if (i != provider) {
                closeHalf(i);
            }
        }
        return half;
    }

    void closeHalf(int provider) {
        ProviderConnection half = halves[provider];
        if (half != null) {
            halves[provider] = null;
            half.close();
        }
    }

    void closeHalves() {
        for (int i = 0; i < halves.length; i++) {
            closeHalf(i);
        }
    }

    @Nullable ProviderConnection chosen() {
        return chosen;
    }

    Permissions peerPermissions() {
        return peerPermissions;
    }

    void enter(State next) {
        state = next;
    }

    void fail(Status status, String reason) {
        failure = status;
        failureReason = reason;
    }
}
