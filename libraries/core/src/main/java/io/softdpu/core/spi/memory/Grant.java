package io.softdpu.core.spi.memory;

import io.softdpu.fabric.region.ImportedRegion;
import org.jspecify.annotations.Nullable;

/**
 * Grant of an mmap from one start to its stop: permissions, devices and memory do not change
 * meanwhile. A context that has checked the mmap once compares the grant only, by identity: each
 * start makes another. Any thread; allocates nothing.
 */
public final class Grant {
    private final @Nullable ImportedRegion lease;

    /**
     * A grant of an mmap.
     *
     * @param lease of an import, whose exporter may revoke it; null for local memory
     */
    public Grant(@Nullable ImportedRegion lease) {
        this.lease = lease;
    }

    /**
     * Whether no peer has revoked the memory: one load for each peer that can. Only while a buf or
     * a context keeps the mmap open.
     */
    public boolean holds() {
        return lease == null || !lease.revokedWhileHeld();
    }
}
