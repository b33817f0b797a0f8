package io.softdpu.fabric.handshake;

import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.ExaminedMemory;
import io.softdpu.fabric.memory.PeerMapping;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.linux.text.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Reply of a server whose examined descriptors are mapped by {@linkplain PeerMapping mapping
 * workers}; then the result is made on the bus thread. Its methods run on the bus thread, except
 * {@link #follow}.
 *
 * @param <T> the result made of the reply and its mapped memory
 */
final class MappedReply<T> {
    /**
     * A validated reply, which owns the received descriptors.
     *
     * @param link to the peer
     * @param parts descriptors to map
     * @param unmapped further descriptors, which the result takes over
     * @param make makes the result of the mapped parts, in their order
     * @param discard releases a result that is not needed any more
     */
    record Checked<T>(
            Link link,
            List<ExaminedMemory> parts,
            List<Integer> unmapped,
            Function<List<SharedSegment>, T> make,
            Consumer<T> discard) {
        /** Releases everything it owns. */
        void discard(BusThreads threads) {
            parts.forEach(part -> threads.closer().closeRefused(part.descriptor()));
            unmapped.forEach(descriptor -> threads.closer().closeRefused(descriptor));
            link.close();
        }
    }

    private static final System.Logger LOG = System.getLogger(MappedReply.class.getName());

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final List<CompletableFuture<SharedSegment>> mappings = new ArrayList<>();

    private MappedReply(Handshakes handshakes) {
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
    }

    /**
     * Maps the memory of a future reply and returns the future result.
     *
     * @return completes on the bus thread; cancelling it cancels the request and releases its
     *     results
     */
    static <T> CompletableFuture<T> follow(
            Handshakes handshakes, CompletableFuture<Checked<T>> reply) {
        MappedReply<T> mapped = new MappedReply<>(handshakes);
        var _ =
                reply.whenComplete((checked, failure) -> {
                    if (failure != null) {
                        mapped.result.completeExceptionally(failure);
                    } else { // on the bus thread, or on the caller's if it is complete already
                        mapped.threads.loop().execute(() -> mapped.map(checked));
                    }
                });
        var _ =
                mapped.result.whenComplete((_, _) -> {
                    if (mapped.result.isCancelled()) {
                        reply.cancel(false);
                        mapped.threads.loop().execute(mapped::cancelMappings);
                    }
                });
        return mapped.result;
    }

    private void map(Checked<T> reply) {
        if (result.isDone()) { // cancelled
            reply.discard(threads);
            return;
        }
        // The end of the link tells the peer that nothing is mapped here: close it after all parts.
        AtomicInteger holders = new AtomicInteger(reply.parts().size());
        Runnable gone =
                () -> {
                    if (holders.decrementAndGet() == 0) {
                        reply.link().close();
                    }
                };
        for (ExaminedMemory part : reply.parts()) {
            mappings.add(
                    PeerMapping.begin(
                            threads, handshakes.mappedBytes(), reply.link().peerPid(), part, gone));
        }
        var _ =
                CompletableFuture.allOf(mappings.toArray(CompletableFuture[]::new))
                        .whenComplete((_, _) -> finish(reply, gone));
        for (CompletableFuture<SharedSegment> mapping : mappings) {
            var _ =
                    mapping.whenComplete((_, failure) -> {
                        if (failure != null) {
                            cancelMappings(); // without this part the others are of no use
                        }
                    });
        }
    }

    private void cancelMappings() {
        mappings.forEach(mapping -> mapping.cancel(false));
    }

    private void finish(Checked<T> reply, Runnable gone) {
        List<SharedSegment> memory =
                mappings.stream()
                        .filter(mapping -> !mapping.isCompletedExceptionally())
                        .map(CompletableFuture::resultNow)
                        .toList();
        try {
            if (memory.size() == mappings.size()) {
                T made = reply.make().apply(memory);
                if (!result.complete(made)) {
                    reply.discard().accept(made);
                }
                return;
            }
        } catch (RuntimeException e) { // a defect, which the waiting caller must see
            LOG.log(System.Logger.Level.ERROR, "reply could not be processed: " + Reason.of(e), e);
            result.completeExceptionally(e);
        }
        memory.forEach(segment -> segment.release(threads, gone));
        reply.unmapped().forEach(descriptor -> threads.closer().closeRefused(descriptor));
        result.completeExceptionally(
                mappings.stream()
                        .filter(CompletableFuture::isCompletedExceptionally)
                        .filter(mapping -> !mapping.isCancelled())
                        .map(CompletableFuture::exceptionNow)
                        .findFirst()
                        .orElseGet(CancellationException::new));
    }
}
