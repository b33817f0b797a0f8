package io.softdpu.rdma.shm;

import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.Lease;
import io.softdpu.fabric.region.LeaseListener;
import org.jspecify.annotations.Nullable;

/**
 * Forwards the bus's events of a connection's peer to the engine: the first lease of this side's
 * ring, and the import of the peer's ring. Called on the bus thread, closed on the engine's thread.
 */
final class PeerEvents implements LeaseListener {
    private final ShmConnection connection;
    private final ContextServices services;
    private @Nullable ImportedRegion peerRingImported;
    private boolean leaseTaken;
    private boolean closed;

    PeerEvents(ShmConnection connection, ContextServices services) {
        this.connection = connection;
        this.services = services;
    }

    @Override
    public void leaseOpened(Lease opened) {
        synchronized (this) {
            if (leaseTaken || closed) {
                return;
            }
            leaseTaken = true;
        }
        connection.refuseFurtherLeases();
        services.post(() -> connection.ringLeased(opened));
    }

    @Override
    public void leaseClosed(Lease closedLease) {
        // The lease's link has reported the peer's end already.
    }

    /** The import of the peer's ring has completed or failed. */
    void peerRingImported(@Nullable ImportedRegion region, @Nullable Throwable failure) {
        synchronized (this) {
            if (!closed) {
                peerRingImported = region;
                services.post(() -> connection.peerRingImported(region, failure));
                return;
            }
        }
        if (region != null) {
            region.close();
        }
    }

    /** Releases the peer's ring; one that is imported later is released at once. */
    void close() {
        ImportedRegion mine;
        synchronized (this) {
            closed = true;
            mine = peerRingImported;
            peerRingImported = null;
        }
        if (mine != null) {
            mine.close();
        }
    }
}
