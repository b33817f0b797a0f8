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
 * Import of the ring and the memory that a consumer of the peer has announced, on its way. The
 * thread of the connection's engine, except where said.
 */
final class ConsumerImport {
    private final int id;
    private final ConsumerAnnouncement announcement;
    private final AtomicInteger abandoned;
    private final CompletableFuture<ImportedRegion> ring;
    private final CompletableFuture<ImportedRegion> memory;
    private final Handover<ConsumerImport> handover = new Handover<>();

    /**
     * Asks for both.
     *
     * @param abandoned counts imports that nobody wants any more and that still take place
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
     * Has the end reported.
     *
     * @param post called with this import when both have come to their end, on any thread, unless
     *     it was abandoned before
     */
    void begin(Consumer<ConsumerImport> post) {
        var _ =
                CompletableFuture.allOf(ring, memory)
                        .whenComplete((ignored, failure) -> {
                            if (handover.offer(this)) {
                                post.accept(this);
                            } else {
                                discard();
                                abandoned.decrementAndGet();
                            }
                        });
    }

    /** Whether it was not abandoned. */
    boolean isWanted() {
        return handover.isWanted();
    }

    /** Gives back what comes of it, now or later. */
    void abandon() {
        abandoned.incrementAndGet();
        if (handover.refuse() != null) {
            discard();
            abandoned.decrementAndGet();
        }
    }

    /** Why it has failed, after its end, and gives back the rest; null if it has not. */
    @Nullable DpuException takeFailure() {
        CompletableFuture<ImportedRegion> failed = ring.isCompletedExceptionally() ? ring : memory;
        if (!failed.isCompletedExceptionally()) {
            return null;
        }
        discard();
        return Failures.of(failed.exceptionNow());
    }

    /** The consumer, after both have come. */
    RemoteConsumer toConsumer() {
        return new RemoteConsumer(
                id,
                new FastPathRing.Geometry(announcement.slots()),
                ring.resultNow(),
                memory.resultNow());
    }

    /** Closes what has come; any thread. */
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
