package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.ProviderConnection;
import java.net.InetAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Local end of a reliable connection (RC, the only transport of the RDMA guide). Created by {@link
 * Rdma#exportConnection()}, and connected to the peer's end by {@link Rdma#connect(byte[],
 * RdmaConnection)}; or created by {@link Rdma#connect(RdmaAddress, byte[])} on one side and {@link
 * RdmaConnectionRequest#accept} on the other.
 *
 * <p>Tasks of one connection are executed and completed in the order of submission.
 *
 * <p>Thread: that of the instance's engine. The connection belongs to its instance and ends with
 * it.
 */
public final class RdmaConnection {
    /** State of a connection. */
    public enum State {
        /** This end exists, and its blob can be transferred to a peer. */
        EXPORTED,
        /**
         * The peer's blob was passed to connect, and the two ends are connecting to each other. A
         * connection by address begins in this state.
         */
        CONNECTING,
        /** Tasks can be submitted. */
        CONNECTED,
        /** Ended by an orderly disconnect of either side. */
        DISCONNECTED,
        /** Ended by a failure; {@link #failure()} and {@link #failureReason()} give the reason. */
        FAILED
    }

    /**
     * Name of a counter: bytes that a NIC in software has copied on this side, payload of writes of
     * the peer and of reads of this side. Copies of an engine are counted by {@link
     * io.softdpu.core.execution.ProgressEngine#payloadBytesCopied()} alone.
     */
    public static final String NIC_PAYLOAD_BYTES_COPIED = "nic_payload_bytes_copied";

    private final RdmaContext rdma;
    private final int id;
    private final @Nullable ProviderConnection[] providerConnections;
    private byte[] blob = new byte[0];
    private State state = State.EXPORTED;
    private @Nullable ProviderConnection selected;
    private String provider = "";
    private Permissions peerPermissions = Permissions.LOCAL_READ_ONLY;
    private Status failure = Status.SUCCESS;
    private String failureReason = "";
    private long userData;
    private boolean disconnecting;

    /** Status of the first atomic operation that has failed; SUCCESS for none. */
    private Status atomicFailure = Status.SUCCESS;

    private boolean established;
    private @Nullable InetAddress peerAddress;
    private byte[] peerPrivateData = new byte[0];
    private @Nullable AddressAttempt attempt;

    /** Reasons of the providers that have no section in the blob. */
    private ProviderFailures leftOut = new ProviderFailures();

    RdmaConnection(RdmaContext rdma, int id, int providers) {
        this.rdma = rdma;
        this.id = id;
        this.providerConnections = new @Nullable ProviderConnection[providers];
    }

    /** A connection by address, which begins in CONNECTING. */
    RdmaConnection(RdmaContext rdma, int id, int providers, InetAddress peerAddress) {
        this(rdma, id, providers);
        this.peerAddress = peerAddress;
        this.state = State.CONNECTING;
    }

    /**
     * A copy of the blob for the peer's {@link Rdma#connect(byte[], RdmaConnection)}. The
     * application transfers it; it is valid for one peer, which may be another process of this
     * machine. Empty for a connection by address.
     */
    public byte[] blob() {
        return blob.clone();
    }

    /** Number of this connection within its instance, for messages. */
    public int id() {
        return id;
    }

    /** The state. */
    public State state() {
        return state;
    }

    /**
     * The reason of a {@linkplain State#FAILED failed} connection as a status; SUCCESS unless it
     * failed.
     *
     * <ul>
     *   <li>CONNECTION_RESET: the peer's process ended, or the connection failed at the peer
     *   <li>IO_FAILED: a message found no receive task at the peer, or one with too small a buffer
     *   <li>TOO_BIG: a message of the peer did not fit the receive task that it found here
     *   <li>SHUTDOWN: the remote memory or sync event of a task in flight was revoked or destroyed
     *   <li>NOT_FOUND, CONNECTION_ABORTED, TIME_OUT, NOT_PERMITTED: as {@link
     *       Rdma#connect(RdmaAddress, byte[])}
     *   <li>AUTHENTICATION: the peer is not the exporter of the blob that was passed to connect
     *   <li>UNEXPECTED: this side or the peer detected a violation of the protocol by the other
     *   <li>any other: the connect failed, or a task in flight could not continue
     * </ul>
     */
    public Status failure() {
        return failure;
    }

    /** The failure as text, {@code reason: key=value}; empty unless it failed. */
    public String failureReason() {
        return failureReason;
    }

    /**
     * The peer's address of a connection by address: the one that it was connected to, or the one
     * of the accepted request. Null for a connection by blobs.
     */
    public @Nullable InetAddress peerAddress() {
        return peerAddress;
    }

    /**
     * A copy of the private data of the peer's program: that of the accepted request; of the answer
     * to this side's request, which is there with the state CONNECTED, or with FAILED if the peer
     * has rejected it. Of a peer that is none of softdpu all bytes of its message, see {@link
     * Rdma#listen}. Empty before, and for a connection by blobs.
     */
    public byte[] peerPrivateData() {
        return peerPrivateData.clone();
    }

    /** The instance that it belongs to. */
    public Rdma context() {
        return rdma;
    }

    /**
     * The path MTU in bytes: the lower of both ends' once it is CONNECTED; 0 before it was
     * connected to a blob or, by address, before the listener has accepted it.
     */
    public int pathMtuBytes() {
        ProviderConnection providerConnection = selected;
        return providerConnection == null ? 0 : providerConnection.pathMtuBytes();
    }

    /**
     * Name of the provider that serves the connection, one of {@link RdmaCapabilities#providers()};
     * empty before it was connected to a blob or, by address, before the listener has accepted it.
     */
    public String provider() {
        return provider;
    }

    /**
     * A snapshot of what the provider has counted for this connection: numbers by name, in an order
     * that does not change. Which there are depends on the provider, and {@code shm} has none; one
     * with a NIC in software has {@link #NIC_PAYLOAD_BYTES_COPIED} among them. They are kept when
     * the connection ends. Empty as long as {@link #provider()} is. Each call makes a map, so it is
     * not for the data path.
     *
     * @return unmodifiable
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public SequencedMap<String, Long> counters() {
        rdma.requireThread();
        ProviderConnection providerConnection = selected;
        return Collections.unmodifiableSequencedMap(
                providerConnection == null
                        ? new LinkedHashMap<>()
                        : new LinkedHashMap<>(providerConnection.counters()));
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
    public RdmaConnection setUserData(long userData) {
        rdma.requireThread();
        this.userData = userData;
        return this;
    }

    /**
     * Begins an orderly disconnect, done in a later progress: its tasks in flight fail with
     * CONNECTION_ABORTED unless they were done before, receives stay posted, and the peer sees it
     * DISCONNECTED. One that was not connected to a blob, or that its listener has not answered, is
     * DISCONNECTED at once. Does nothing if it has ended.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public void disconnect() {
        rdma.disconnect(this);
        disconnecting = true;
    }

    @Override
    public String toString() {
        return "connection " + id + " of " + rdma + " (" + state + ")";
    }

    // ---- for the instance ----

    /** The refusal of a submission, unless it is CONNECTED. */
    Refusal notConnected() {
        return Refusal.of(
                Status.NOT_CONNECTED,
                failure == Status.SUCCESS ? null : new DpuException(failure, failureReason),
                "connection is not connected: connection=%s, state=%s%s, expected=%s",
                id,
                state,
                failure == Status.SUCCESS ? "" : ", failure=" + failure,
                State.CONNECTED);
    }

    boolean ended() {
        return state == State.DISCONNECTED || state == State.FAILED;
    }

    void setBlob(byte[] encoded, ProviderFailures without) {
        blob = encoded;
        leftOut = without;
    }

    /** Reasons of the providers that have no section in the blob, as the end of a message. */
    String leftOut() {
        return leftOut.suffix("leftOut");
    }

    void setProviderConnection(int provider, ProviderConnection providerConnection) {
        providerConnections[provider] = providerConnection;
    }

    @Nullable ProviderConnection providerConnection(int provider) {
        return providerConnections[provider];
    }

    /** Keeps this provider's connection and closes the others. */
    void select(int provider, String name, Permissions grantedByPeer) {
        selected = Objects.requireNonNull(providerConnections[provider]);
        this.provider = name;
        peerPermissions = grantedByPeer;
        for (int i = 0; i < providerConnections.length; i++) {
            if (i != provider) {
                closeProviderConnection(i);
            }
        }
    }

    void closeProviderConnection(int provider) {
        ProviderConnection providerConnection = providerConnections[provider];
        if (providerConnection != null) {
            providerConnections[provider] = null;
            providerConnection.close();
        }
    }

    void closeProviderConnections() {
        for (int i = 0; i < providerConnections.length; i++) {
            closeProviderConnection(i);
        }
    }

    @Nullable ProviderConnection selected() {
        return selected;
    }

    Permissions peerPermissions() {
        return peerPermissions;
    }

    /** An atomic operation has failed; the end of the connection follows. */
    void atomicFailed(Status status) {
        if (atomicFailure == Status.SUCCESS) {
            atomicFailure = status;
        }
    }

    Status atomicFailure() {
        return atomicFailure;
    }

    /** Whether this side has called {@link #disconnect}. */
    boolean isDisconnecting() {
        return disconnecting;
    }

    void changeState(State next) {
        established |= next == State.CONNECTED;
        state = next;
    }

    /** Whether a failure of it is no failure of the context: by address, and never established. */
    boolean isAttempt() {
        return peerAddress != null && !established;
    }

    /** Whether it was CONNECTED. */
    boolean isEstablished() {
        return established;
    }

    /** Another provider's turn, while no listener has answered; null otherwise. */
    @Nullable AddressAttempt attempt() {
        return attempt;
    }

    void setAttempt(@Nullable AddressAttempt unanswered) {
        attempt = unanswered;
    }

    void setPeerPrivateData(byte[] data) {
        peerPrivateData = data.clone();
    }

    void fail(Status status, String reason) {
        failure = status;
        failureReason = reason;
    }
}
