package io.softdpu.fabric;

/**
 * One peer's hold on an exported region. Its link is the doorbell between the two and tells of the
 * peer's end; the exporter closes the link to end the lease from its side only after revoking.
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
