package io.softdpu.rdma.shm;

import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.Lease;
import io.softdpu.fabric.region.LeaseListener;
import org.jspecify.annotations.Nullable;

/**
 * What the bus reports of a connection's peer, handed over to the engine: the first lease of the
 * own ring, and the peer's ring. Called on the bus thread, and closed on the engine's.
 */
final class PeerArrivals implements LeaseListener {
    private final ShmConnection connection;
    private final ContextServices services;
    private @Nullable ImportedRegion fetched;
    private boolean leaseTaken;
    private boolean closed;

    PeerArrivals(ShmConnection connection, ContextServices services) {
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
        services.post(() -> connection.leased(opened));
    }

    @Override
    public void leaseClosed(Lease closedLease) {
        // The link of the lease has told it already.
    }

    /** The peer's ring has been imported, or cannot be. */
    void fetched(@Nullable ImportedRegion region, @Nullable Throwable failure) {
        synchronized (this) {
            if (!closed) {
                fetched = region;
                services.post(() -> connection.fetched(region, failure));
                return;
            }
        }
        if (region != null) {
            region.close();
        }
    }

    /** Gives the peer's ring back; what comes from now on is given back at once. */
    void close() {
        ImportedRegion mine;
        synchronized (this) {
            closed = true;
            mine = fetched;
            fetched = null;
        }
        if (mine != null) {
            mine.close();
        }
    }
}
