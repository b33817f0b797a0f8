package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.spi.ProviderConnection;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the tasks of a connection: the peer that they are for, and the checks of its memory
 * and of what its instance grants.
 *
 * @param <T> the public type, which setters return
 */
abstract class PeerTask<T extends Task> extends RdmaTask<T> {
    private @Nullable RdmaConnection connection;

    /** Grant of the peer's memory that was checked last; null after a change of the connection. */
    private @Nullable Grant peers;

    /**
     * @param maxListLength limit of elements of the task's local list
     */
    PeerTask(RdmaContext rdma, RdmaTasks.Definition<?, T> definition, int maxListLength) {
        super(rdma, definition, maxListLength);
    }

    public final RdmaConnection connection() {
        return requireSet(connection, "connection");
    }

    /** Sets the connection: what another grants says nothing of this one. */
    final void useConnection(RdmaConnection next) {
        if (connection != rdma.requireOwn(next)) {
            connection = next;
            peers = null;
        }
    }

    /**
     * Checks whether remote memory may be used: it is an import for RDMA, and mmap and instance of
     * the peer grant the right.
     *
     * @param operand its name in the task: {@code destination}
     */
    @SuppressWarnings("ReferenceEquality") // grants are objects, not values
    final @Nullable Refusal checkRemote(String operand, Buf remote, Permissions right) {
        if (remote.references() == 0) {
            return BufLists.released(operand, remote);
        }
        Grant grant = Regions.grantOf(remote.mmap());
        if (grant != null && grant == peers && grant.holds()) {
            return null;
        }
        Refusal refusal = checkPeers(operand, remote, right);
        if (refusal == null) {
            peers = grant;
        }
        return refusal;
    }

    private @Nullable Refusal checkPeers(String operand, Buf remote, Permissions right) {
        Mmap mmap = remote.mmap();
        // Only an RDMA import refers to the peer's memory; it alone has no PCIe permissions.
        if (!mmap.isImported() || mmap.permissions().allowsPci()) {
            return notOfPeer(operand, remote);
        }
        Refusal refusal = Regions.checkUse(mmap, rdma.device(), right);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=" + operand);
        }
        return checkInstance(right);
    }

    /**
     * Checks whether the instance of the peer grants the right. What it grants is not known before
     * it has answered.
     */
    final @Nullable Refusal checkInstance(Permissions right) {
        RdmaConnection to = connection();
        if (to.peerPermissions().grants(right)) {
            return null;
        }
        return to.selected() == null ? to.notConnected() : notGranted(to, right);
    }

    private static Refusal notOfPeer(String operand, Buf remote) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "buf is not over memory of the peer: %s=%s, expected=an mmap created from the"
                        + " peer's Mmap.exportRdma",
                operand,
                remote);
    }

    private static Refusal notGranted(RdmaConnection connection, Permissions right) {
        Permissions granted = connection.peerPermissions();
        return Refusal.of(
                Status.NOT_PERMITTED,
                "peer instance does not grant %s: granted=%s, connection=%s,"
                        + " expected=Rdma.setPermissions with it by the peer, before start",
                granted.missing(right),
                granted,
                connection.id());
    }

    /** Sets the peer's memory. */
    @SuppressWarnings("ReferenceEquality") // usually the same; a comparison costs less than a store
    final void setRemote(RemoteMemory memory, long offset) {
        if (request.remote != memory) {
            request.remote = memory;
        }
        request.remoteOffset = offset;
    }

    /** Hands the request, with its operands resolved, to the provider. */
    final @Nullable Refusal submitRequest() {
        RdmaConnection to = connection();
        ProviderConnection providerConnection = to.selected();
        if (providerConnection == null || to.state() != RdmaConnection.State.CONNECTED) {
            return to.notConnected();
        }
        return providerConnection.submit(request);
    }

    @Override
    protected void onFree() {
        request.local.release();
        connection = null;
        request.remote = null;
        request.immediate = 0;
        request.operand = 0;
        request.swap = 0;
    }
}
