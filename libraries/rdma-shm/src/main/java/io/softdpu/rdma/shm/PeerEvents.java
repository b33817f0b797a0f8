package io.softdpu.rdma.shm;

import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.region.LeaseListener;

/**
 * Forwards the first lease of this side's ring to the engine. Called on the bus thread, closed on
 * the engine's thread.
 */
final class PeerEvents implements LeaseListener {
    private final ShmSetup setup;
    private final ContextServices services;
    private boolean leaseTaken;
    private boolean closed;

    PeerEvents(ShmSetup setup, ContextServices services) {
        this.setup = setup;
        this.services = services;
    }

    @Override
    public void leaseOpened(Link opened) {
        synchronized (this) {
            if (leaseTaken || closed) {
                return;
            }
            leaseTaken = true;
        }
        setup.refuseFurtherLeases();
        services.post(() -> setup.ringLeased(opened));
    }

    @Override
    public void leaseClosed(Link closedLease) {
        // The link has reported the peer's end already.
    }

    /** Forwards no more leases. */
    synchronized void close() {
        closed = true;
    }
}
