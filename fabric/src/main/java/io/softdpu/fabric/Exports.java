package io.softdpu.fabric;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Regions of a bus that other processes may import, by their numbers. Any thread. */
final class Exports {
    /** Peers that may hold one region at the same time. */
    private static final int LEASES_LIMIT = 256;

    private final Bus bus;
    private final RegionAddress.Id fabricId;
    private final Map<Long, ExportedRegion> regions = new ConcurrentHashMap<>();
    private final AtomicLong lastRegion = new AtomicLong();
    private final AtomicLong keptBackBytes = new AtomicLong();

    Exports(Bus bus, RegionAddress.Id fabricId) {
        this.bus = bus;
        this.fabricId = fabricId;
    }

    /**
     * Exports memory under a new number and key.
     *
     * @param memory what is exported; null for an import that is passed on
     * @param parent the import that is passed on; null for memory of this process
     * @throws FabricException CLOSED
     */
    ExportedRegion register(
            long sizeBytes,
            boolean writable,
            @Nullable SharedSegment memory,
            @Nullable ImportedRegion parent,
            @Nullable LeaseListener listener) {
        RegionAddress address =
                new RegionAddress(
                        bus.bootId(),
                        fabricId,
                        bus.busId(),
                        lastRegion.incrementAndGet(),
                        bus.randomId(),
                        sizeBytes);
        ExportedRegion region =
                new ExportedRegion(bus, address, writable, memory, parent, listener);
        regions.put(address.regionId(), region);
        if (bus.closed()) { // close() may have looked before the region was there
            region.revoke();
            bus.requireOpen();
        }
        return region;
    }

    /**
     * Passes an import on.
     *
     * @throws FabricException as {@link Bus#reexport}
     */
    ExportedRegion reexport(
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
            // Whoever holds a descriptor of writable memory can map it writable.
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
     * The region that a client has shown the key of.
     *
     * @throws FabricException NOT_FOUND, NOT_PERMITTED, LIMIT
     */
    ExportedRegion find(Frame.Lease wanted) {
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

    /** Forgets a region that was revoked. */
    void remove(ExportedRegion region) {
        regions.remove(region.address().regionId());
    }

    /** Revokes all. */
    void revokeAll() {
        List.copyOf(regions.values()).forEach(ExportedRegion::revoke);
    }

    /** Counts bytes of a revoked region that importers still have mapped; negative: no longer. */
    void keepBack(long bytes) {
        keptBackBytes.addAndGet(bytes);
    }

    /** Bytes of revoked regions that importers still have mapped. */
    long keptBackBytes() {
        return keptBackBytes.get();
    }
}
