package io.softdpu.rdma.roce;

import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.nic.NicRequest;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.ProviderConnection;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Request of a peer that waits for its answer. Belongs to the engine's thread. */
final class RoceRequest implements ConnectRequest {
    private final RoceEndpoint endpoint;
    private final NicRequest part;

    /** Answered, given up by the peer, or ended with the endpoint. */
    private boolean ended;

    RoceRequest(RoceEndpoint endpoint, NicRequest part) {
        this.endpoint = endpoint;
        this.part = part;
    }

    @Override
    public int port() {
        return part.port();
    }

    @Override
    public InetAddress peerAddress() {
        try {
            return InetAddress.getByAddress(part.peer().addressBytes());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("no address: gid=" + part.peer(), e);
        }
    }

    @Override
    public Permissions peerPermissions() {
        return part.grants();
    }

    @Override
    public byte[] privateData() {
        return part.data();
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    @Override
    public ProviderConnection accept(byte[] privateData, Object owner) {
        RoceConnection made = endpoint.accept(part, privateData, owner);
        ended = true;
        return made;
    }

    @Override
    public void reject(byte[] privateData) {
        if (!ended) {
            ended = true;
            endpoint.part().reject(part, privateData.clone());
        }
    }

    @Override
    public void refuse(String reason) {
        if (!ended) {
            ended = true;
            endpoint.part().refuse(part, reason);
        }
    }

    /** It can no longer be answered. */
    void end() {
        ended = true;
    }

    /**
     * Ends it if the peer has given it up. Inside progress.
     *
     * @return whether it has, since the last call
     */
    boolean noteEnd() {
        boolean noted = hasWork();
        ended |= noted;
        return noted;
    }

    /** Whether {@link #noteEnd} has something to note. */
    boolean hasWork() {
        return !ended && part.isGone();
    }
}
