package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;

/**
 * Hears of leases of an exported region. Calls come on the bus thread: post to a mailbox and
 * return.
 */
public interface LeaseListener {
    /** A peer has been given the region. */
    void leaseOpened(Lease lease);

    /**
     * A peer has given it back, or has ended: it has no mapping any more. Not called for one that
     * breaks the rules of the link, which {@link Link#peerGone()} tells, until it hangs up.
     */
    void leaseClosed(Lease lease);
}
