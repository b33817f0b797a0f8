package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;

/**
 * Listener for leases of an exported region. Called on the bus thread; an implementation posts to a
 * mailbox and returns.
 */
public interface LeaseListener {
    /** A peer has leased the region. */
    void leaseOpened(Lease lease);

    /**
     * A peer has released the region or has ended: it has no mapping any more. For a peer that
     * violates the rules of the link, which {@link Link#peerGone()} shows, this is called when it
     * hangs up.
     */
    void leaseClosed(Lease lease);
}
