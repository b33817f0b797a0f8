package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.fabric.wire.RegionAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Imports of the ring and the memory that a consumer of the peer has announced. Belongs to the
 * thread of the connection's engine.
 */
final class ConsumerImport {
    private final int id;
    private final ConsumerAnnouncement announcement;
    private final List<Import<ImportedRegion>> asked = new ArrayList<>();
    private final CompletableFuture<ImportedRegion> ring;
    private final CompletableFuture<ImportedRegion> memory;
    private boolean abandoned;

    /** Starts both imports. */
    ConsumerImport(EndpointServices services, int id, ConsumerAnnouncement announcement) {
        this.id = id;
        this.announcement = announcement;
        this.ring = importRegion(services, announcement.ring());
        this.memory = importRegion(services, announcement.memory());
    }

    int id() {
        return id;
    }

    /**
     * Registers the completion callback.
     *
     * @param post called with this import when both have completed, or failed and have nothing
     *     mapped any more, abandoned or not; on any thread
     */
    void begin(Consumer<ConsumerImport> post) {
        var _ = CompletableFuture.allOf(ring, memory).whenComplete((_, _) -> post.accept(this));
    }

    /** Whether it was abandoned. */
    boolean isAbandoned() {
        return abandoned;
    }

    /** Ends both imports. */
    void abandon() {
        abandoned = true;
        asked.forEach(Import::close);
    }

    /**
     * The failure of a completed import, which also releases the other region; null if both
     * succeeded.
     */
    @Nullable DpuException takeFailure() {
        CompletableFuture<ImportedRegion> failed = ring.isCompletedExceptionally() ? ring : memory;
        if (!failed.isCompletedExceptionally()) {
            return null;
        }
        asked.forEach(Import::close);
        return Failures.of(failed.exceptionNow());
    }

    /** The consumer, after both imports have succeeded. */
    RemoteConsumer toConsumer() {
        return new RemoteConsumer(
                id,
                new FastPathRing.Geometry(announcement.slots()),
                ring.resultNow(),
                memory.resultNow());
    }

    private CompletableFuture<ImportedRegion> importRegion(
            EndpointServices services, RegionAddress region) {
        try {
            Import<ImportedRegion> begun =
                    services.bus().importRegion(region, true, true, services.controlTimeoutNanos());
            asked.add(begun);
            return begun.future();
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
