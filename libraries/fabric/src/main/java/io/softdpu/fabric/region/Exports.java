package io.softdpu.fabric.region;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Regions of a bus that other processes may import, by their numbers. Any thread. */
public final class Exports {
    /** Limit of leases per region. */
    private static final int LEASES_LIMIT = 256;

    private final BusThreads threads;
    private final BusIdentity identity;
    private final Map<Long, ExportedRegion> regions = new ConcurrentHashMap<>();
    private final AtomicLong lastRegion = new AtomicLong();
    private final AtomicLong retainedBytes = new AtomicLong();

    /**
     * Creates an empty table.
     *
     * @param threads of the bus
     */
    public Exports(BusThreads threads, BusIdentity identity) {
        this.threads = threads;
        this.identity = identity;
    }

    /**
     * Exports memory of this process. It is sealed, which cannot be undone.
     *
     * @throws FabricException NOT_SUPPORTED if it is exported with the other access already; IN_USE
     *     while importers hold it from an export that was revoked; CLOSED
     */
    public ExportedRegion export(
            SharedSegment memory, boolean writable, @Nullable LeaseListener listener) {
        memory.requireReleased();
        memory.seal(!writable);
        if (!memory.retain()) {
            throw SharedSegment.gone();
        }
        boolean registered = false;
        try {
            ExportedRegion region = register(memory.sizeBytes(), writable, memory, null, listener);
            registered = true;
            return region;
        } finally {
            if (!registered) {
                memory.release(threads);
            }
        }
    }

    /**
     * Exports memory under a new number and key.
     *
     * @param memory the exported memory; null for a re-export
     * @param parent the import that is re-exported; null for memory of this process
     * @throws FabricException CLOSED
     */
    private ExportedRegion register(
            long sizeBytes,
            boolean writable,
            @Nullable SharedSegment memory,
            @Nullable ImportedRegion parent,
            @Nullable LeaseListener listener) {
        RegionAddress address = identity.address(lastRegion.incrementAndGet(), sizeBytes);
        ExportedRegion region =
                new ExportedRegion(threads, this, address, writable, memory, parent, listener);
        regions.put(address.regionId(), region);
        if (threads.closed()) { // close() may have run before the region was added
            region.revoke();
            threads.requireOpen();
        }
        return region;
    }

    /**
     * Re-exports an import.
     *
     * @throws FabricException NOT_PERMITTED if more access is requested than was granted;
     *     NOT_SUPPORTED for an import that is a re-export already, and for re-exporting writable
     *     memory as read-only; CLOSED
     */
    public ExportedRegion reexport(
            ImportedRegion parent, boolean writable, @Nullable LeaseListener listener) {
        if (parent.isReexport()) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "a re-exported region cannot be passed on again, import it from its exporter:"
                            + " sizeBytes="
                            + parent.sizeBytes());
        }
        if (writable && !parent.writable()) {
            throw new FabricException(
                    FabricException.Kind.NOT_PERMITTED,
                    "re-export asks for more than was granted: granted=read-only, asked=writable");
        }
        if (!writable && !parent.sealedReadOnly()) {
            // A process with a descriptor of writable memory can map it writable.
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "one memory is exported either read-only or writable: imported=writable,"
                            + " asked=read-only");
        }
        ExportedRegion child = register(parent.sizeBytes(), writable, null, parent, listener);
        if (!parent.addChild(child)) {
            child.revoke();
            throw new FabricException(FabricException.Kind.CLOSED, "import has been closed");
        }
        return child;
    }

    /**
     * The region of a LEASE request, if its key is right.
     *
     * @throws FabricException NOT_FOUND, NOT_PERMITTED, LIMIT
     */
    public ExportedRegion find(Frame.Lease wanted) {
        ExportedRegion region = regions.get(wanted.regionId());
        if (region == null || region.revoked() || !region.address().key().equals(wanted.key())) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "region is not exported, or the key is wrong: region=" + wanted.regionId());
        }
        if (wanted.writable() && !region.writable()) {
            throw new FabricException(
                    FabricException.Kind.NOT_PERMITTED,
                    "region is exported read-only: region=" + wanted.regionId());
        }
        if (region.refusesFurther()) {
            throw new FabricException(
                    FabricException.Kind.LIMIT,
                    "region takes no further importer: region=" + wanted.regionId());
        }
        if (region.leases() >= LEASES_LIMIT) {
            throw new FabricException(
                    FabricException.Kind.LIMIT,
                    "region has too many importers: region="
                            + wanted.regionId()
                            + ", limit="
                            + LEASES_LIMIT);
        }
        return region;
    }

    /** Removes a region that was revoked. */
    void remove(ExportedRegion region) {
        regions.remove(region.address().regionId());
    }

    /** Revokes all regions. */
    public void revokeAll() {
        List.copyOf(regions.values()).forEach(ExportedRegion::revoke);
    }

    /**
     * Adds to the count of bytes of revoked regions that importers still have mapped; negative to
     * subtract.
     */
    void addRetained(long bytes) {
        retainedBytes.addAndGet(bytes);
    }

    /** Bytes of revoked regions that importers still have mapped. */
    public long retainedBytes() {
        return retainedBytes.get();
    }
}
