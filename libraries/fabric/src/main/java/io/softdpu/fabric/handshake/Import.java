package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.ExaminedMemory;
import io.softdpu.fabric.memory.PeerMapping;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.text.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Import of memory that another process serves, from the request to the release: {@link
 * ImportState} names its states. A {@linkplain OutgoingHandshake handshake} asks for it,
 * {@linkplain PeerMapping mapping workers} map it, and the holder gets it from the {@linkplain
 * #future() future}.
 *
 * <p>Any thread calls the public methods; everything else happens on the bus thread.
 *
 * @param <T> the object that the holder gets: a lease of a region, or a connection
 */
public final class Import<T> implements AutoCloseable {
    /**
     * A reply that was found right; it owns the link and the received descriptors.
     *
     * @param link to the exporter
     * @param parts descriptors to map
     * @param unmapped further descriptors, which the object takes over
     * @param make makes the object of the mapped parts, in their order
     * @param release releases the object
     */
    record Granted<T>(
            Link link,
            List<ExaminedMemory> parts,
            List<Integer> unmapped,
            Function<List<SharedSegment>, T> make,
            Consumer<T> release) {
        void discard(BusThreads threads) {
            parts.forEach(part -> threads.closer().closeRefused(part.descriptor()));
            unmapped.forEach(descriptor -> threads.closer().closeRefused(descriptor));
            link.close();
        }
    }

    /** Check of a reply. */
    @FunctionalInterface
    interface Check<T> {
        /**
         * Takes the descriptors that are needed out of the message. What it returns owns the
         * socket, too, unless this throws.
         */
        Granted<T> check(OutgoingHandshake.Reply reply);
    }

    private static final System.Logger LOG = System.getLogger(Import.class.getName());

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final OutgoingHandshake handshake;
    private final Check<T> check;
    private final AtomicReference<ImportState> state = new AtomicReference<>(ImportState.ASKED);
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final List<CompletableFuture<SharedSegment>> mappings = new ArrayList<>();

    /** Releases the object; set before the state is HANDED_OVER. */
    private @Nullable Runnable release;

    /** Whether the holder has closed it, which may be after it has failed. */
    private volatile boolean unwanted;

    /**
     * Prepares an import.
     *
     * @param name of the exporter
     * @param enclosed memory whose descriptor is sent with the request; null for none
     * @param timeoutNanos time limit for the reply
     * @throws FabricException CLOSED if that memory has been released
     */
    Import(
            Handshakes handshakes,
            String name,
            Frame request,
            @Nullable SharedSegment enclosed,
            long timeoutNanos,
            Check<T> check) {
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
        this.check = check;
        this.handshake =
                new OutgoingHandshake(handshakes, this, name, request, enclosed, timeoutNanos);
    }

    /** Sends the request. */
    Import<T> begin() {
        var _ =
                future.whenComplete((_, _) -> {
                    if (future.isCancelled()) {
                        close();
                    }
                });
        handshake.begin();
        return this;
    }

    /**
     * The object, which is the holder's to close, unless it closes the import.
     *
     * @return completes on the bus thread; fails with a {@link FabricException}, or because the
     *     import is closed, when no mapping worker maps memory for it any more; cancelling it
     *     closes the import
     */
    public CompletableFuture<T> future() {
        return future;
    }

    /**
     * Delivers the object or the failure to an engine, unless the import is closed before.
     *
     * @param post posts work to the engine's thread, the only one that closes the import
     * @param to runs there; one of the two is null
     */
    public void deliver(Consumer<Runnable> post, BiConsumer<@Nullable T, @Nullable Throwable> to) {
        var _ =
                future.whenComplete((object, failure) ->
                        post.accept(() -> {
                            if (!unwanted) {
                                to.accept(object, failure);
                            }
                        }));
    }

    /** The state. */
    ImportState state() {
        return ImportState.of(state);
    }

    /** Ends the import in any state, and releases what it has; idempotent, and returns at once. */
    @Override
    public void close() {
        unwanted = true;
        ImportState before = ImportState.move(state, ImportState.Event.CLOSE);
        if (before == ImportState.HANDED_OVER) {
            Objects.requireNonNull(release, "set before").run();
        } else if (before != null) {
            threads.loop().execute(this::abandon);
        }
    }

    /** Of two steps that release the same, one gets true. */
    boolean move(ImportState.Event event) {
        return ImportState.move(state, event) != null;
    }

    // ---- on the bus thread ----

    /** Whether it was closed, or has failed. */
    boolean isClosed() {
        return state() == ImportState.CLOSED;
    }

    /** Ends what was begun; what is being mapped ends the import itself. */
    private void abandon() {
        if (mappings.isEmpty()) {
            handshake.fail(new CancellationException());
        } else {
            mappings.forEach(mapping -> mapping.cancel(false));
        }
    }

    /** The handshake has failed, or a later step. */
    void failed(Throwable cause) {
        boolean _ = move(ImportState.Event.CLOSE);
        future.completeExceptionally(cause);
    }

    /**
     * The exporter has replied.
     *
     * @throws FabricException MALFORMED; the socket is still the handshake's
     */
    void replied(OutgoingHandshake.Reply reply) {
        Granted<T> granted = check.check(reply);
        if (move(ImportState.Event.GRANT)) {
            threads.loop().execute(() -> map(granted)); // when the message has been emptied
        } else {
            granted.discard(threads);
        }
    }

    private void map(Granted<T> granted) {
        if (isClosed()) {
            granted.discard(threads);
            return;
        }
        // The end of the link tells the peer that nothing is mapped here: close it after all parts.
        // The future fails then, too: who limits imports counts this one as long as it has memory.
        AtomicInteger holders = new AtomicInteger(1 + granted.parts().size()); // and mapped()
        Runnable gone =
                () -> {
                    if (holders.decrementAndGet() == 0) {
                        granted.link().close();
                        threads.loop().execute(() -> failed(failure()));
                    }
                };
        for (ExaminedMemory part : granted.parts()) {
            mappings.add(
                    PeerMapping.begin(
                            threads,
                            handshakes.mappedBytes(),
                            granted.link().peerPid(),
                            part,
                            gone));
        }
        var _ =
                CompletableFuture.allOf(mappings.toArray(CompletableFuture[]::new))
                        .whenComplete((_, _) -> mapped(granted, gone));
        for (CompletableFuture<SharedSegment> mapping : mappings) {
            var _ =
                    mapping.whenComplete((_, failure) -> {
                        if (failure != null) { // without this part the others are of no use
                            mappings.forEach(other -> other.cancel(false));
                        }
                    });
        }
    }

    /** Each part was mapped or has failed. */
    private void mapped(Granted<T> granted, Runnable gone) {
        List<SharedSegment> memory =
                mappings.stream()
                        .filter(mapping -> !mapping.isCompletedExceptionally())
                        .map(CompletableFuture::resultNow)
                        .toList();
        if (memory.size() == mappings.size() && move(ImportState.Event.MAP)) {
            try {
                T made = granted.make().apply(memory);
                handOver(made, () -> granted.release().accept(made));
                return;
            } catch (RuntimeException e) { // a defect, which the waiting caller must see
                LOG.log(System.Logger.Level.ERROR, "import not made: " + Reason.of(e), e);
                failed(e);
            }
        }
        memory.forEach(segment -> segment.release(threads, gone));
        granted.unmapped().forEach(descriptor -> threads.closer().closeRefused(descriptor));
        gone.run();
    }

    /** Why a part was not mapped; all have ended. */
    private Throwable failure() {
        return mappings.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .filter(mapping -> !mapping.isCancelled())
                .map(CompletableFuture::exceptionNow)
                .findFirst()
                .orElseGet(CancellationException::new);
    }

    /** Gives the object to the holder, or releases it if that has closed the import meanwhile. */
    void handOver(T object, Runnable releaseOfObject) {
        release = releaseOfObject;
        if (move(ImportState.Event.HAND_OVER)) {
            future.complete(object);
        } else {
            releaseOfObject.run();
            failed(new CancellationException());
        }
    }

    /** Its state, for messages. */
    @Override
    public String toString() {
        return "import[state=" + state() + "]";
    }
}
