package io.softdpu.rdma.roce.nic;

import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.wire.Gid;
import java.util.Objects;

/**
 * Request of a peer to a port on which an endpoint listens, between the owner of the NIC and the
 * engine. What it states is fixed; any thread.
 */
public final class NicRequest {
    private final CmConnection connection;
    private final Gid peer;
    private final Permissions grants;
    private final byte[] data;
    private final int fixedPathMtuBytes;

    /** Whether the peer has given it up; written by the owner of the NIC. */
    private volatile boolean gone;

    NicRequest(CmConnection connection) {
        this.connection = connection;
        peer = Objects.requireNonNull(connection.peer(), "a request has a peer");
        grants = connection.peerGrants();
        data = connection.peerData();
        fixedPathMtuBytes = connection.fixedPathMtuBytes();
    }

    /** The port to which the peer connects. */
    public int port() {
        return connection.port();
    }

    /** The peer's address. */
    public Gid peer() {
        return peer;
    }

    /** What the peer's instance grants. */
    public Permissions grants() {
        return grants;
    }

    /** A copy of the data of the peer's program. */
    public byte[] data() {
        return data.clone();
    }

    /** The path MTU that it asks for in bytes if no answer lowers it; 0 otherwise. */
    int fixedPathMtuBytes() {
        return fixedPathMtuBytes;
    }

    /** Whether the peer has given it up. */
    public boolean isGone() {
        return gone;
    }

    // ---- for the owner of the NIC ----

    CmConnection connection() {
        return connection;
    }

    void setGone() {
        gone = true;
    }
}
