package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;

/**
 * One peer's hold on an exported region, until the peer hangs up. Its link is the doorbell between
 * the two; a peer that breaks its rules is rung and heard no more, and holds the region all the
 * same: the exporter closes the link only after the peer, the memory being the peer's to let go of.
 */
public final class Lease {
    private final Link link;

    Lease(Link link) {
        this.link = link;
    }

    /** The doorbell to the importer. */
    public Link link() {
        return link;
    }
}
