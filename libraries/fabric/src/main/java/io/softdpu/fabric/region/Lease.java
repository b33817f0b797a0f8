package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;

/**
 * One peer's lease of an exported region, until the peer hangs up. Its link carries the doorbells
 * between the two. A peer that violates the rules of the link is neither rung nor listened to any
 * more, but holds the region until it hangs up: the exporter closes the link only after the peer,
 * since only that shows that the peer has unmapped the memory.
 */
public final class Lease {
    private final Link link;

    Lease(Link link) {
        this.link = link;
    }

    /** The link to the importer. */
    public Link link() {
        return link;
    }
}
