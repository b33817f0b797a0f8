package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;

/**
 * Listener for leases of an exported region, each of which a peer has until it hangs up. Called on
 * the bus thread; an implementation posts to a mailbox and returns.
 *
 * <p>The link of a lease carries the doorbells between the two. A peer that violates the rules of
 * the link is neither rung nor listened to any more, but holds the region until it hangs up: the
 * exporter closes the link only after the peer, since only that shows that the peer has unmapped
 * the memory.
 */
public interface LeaseListener {
    /** A peer has leased the region. */
    void leaseOpened(Link lease);

    /**
     * A peer has released the region or has ended: it has no mapping any more. For a peer that
     * violates the rules of the link, which {@link Link#peerGone()} shows, this is called when it
     * hangs up.
     */
    void leaseClosed(Link lease);
}
