package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.core.DpuException;
import io.softdpu.core.spi.Failures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.fabric.wire.RegionAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asynchronous import of the ring and the memory that a consumer of the peer has announced. Belongs
 * to the thread of the connection's engine, except where a method states otherwise.
 */
final class ConsumerImport {
    private final int id;
    private final ConsumerAnnouncement announcement;
    private final AtomicInteger abandoned;
    private final CompletableFuture<ImportedRegion> ring;
    private final CompletableFuture<ImportedRegion> memory;
    private final ResultHandoff<ConsumerImport> handoff = new ResultHandoff<>();

    /**
     * Starts both imports.
     *
     * @param abandoned counts abandoned imports that have not completed yet
     */
    ConsumerImport(
            EndpointServices services,
            int id,
            ConsumerAnnouncement announcement,
            AtomicInteger abandoned) {
        this.id = id;
        this.announcement = announcement;
        this.abandoned = abandoned;
        this.ring = importRegion(services, announcement.ring());
        this.memory = importRegion(services, announcement.memory());
    }

    int id() {
        return id;
    }

    /**
     * Registers the completion callback.
     *
     * @param post called with this import when both have completed, on any thread, unless it was
     *     abandoned before
     */
    void begin(Consumer<ConsumerImport> post) {
        var _ =
                CompletableFuture.allOf(ring, memory)
                        .whenComplete((ignored, failure) -> {
                            if (handoff.offer(this)) {
                                post.accept(this);
                            } else {
                                discard();
                                abandoned.decrementAndGet();
                            }
                        });
    }

    /** Whether it was abandoned. */
    boolean isAbandoned() {
        return handoff.isCancelled();
    }

    /** Releases the imported regions, now or when they have been imported. */
    void abandon() {
        abandoned.incrementAndGet();
        if (handoff.cancel() != null) {
            discard();
            abandoned.decrementAndGet();
        }
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
        discard();
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

    /** Closes the imported regions; any thread. */
    private void discard() {
        close(ring);
        close(memory);
    }

    private static void close(CompletableFuture<ImportedRegion> region) {
        if (!region.isCompletedExceptionally()) {
            region.resultNow().close();
        }
    }

    private static CompletableFuture<ImportedRegion> importRegion(
            EndpointServices services, RegionAddress region) {
        try {
            return services.bus().importRegion(region, true, true, services.controlTimeoutNanos());
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
