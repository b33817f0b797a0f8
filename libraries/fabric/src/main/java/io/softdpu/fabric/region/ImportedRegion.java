package io.softdpu.fabric.region;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.Origins;
import io.softdpu.linux.text.Reason;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lease of a region that another process exports: mapped, or only a descriptor if it is only
 * re-exported.
 *
 * <p>{@link #revoked()} and {@link #link()} may be used by any thread; the owner closes after its
 * last use has ended.
 */
public final class ImportedRegion implements AutoCloseable {
    /** Beginning of a mapping of a lease's memory, on the mapping workers. */
    @FunctionalInterface
    public interface Mapper {
        /**
         * Begins a mapping.
         *
         * @param descriptor of the memory; taken over, even if this fails
         * @param gone runs if this fails or is cancelled, when nothing is mapped any more
         * @return completes with memory that is the caller's to release
         */
        CompletableFuture<SharedSegment> begin(int descriptor, Runnable gone);
    }

    /**
     * Limit of a wait for a mapping: a minute, and eight times what a byte was measured to take.
     */
    private static final long MAPPING_NANOS = 60_000_000_000L;

    private static final long MAPPING_NANOS_PER_BYTE = 4;

    private final BusThreads threads;
    private final RegionAddress.Id exporter;
    private final Link link;
    private final boolean writable;
    private final long sizeBytes;
    private final int descriptor;
    private final GenerationPage generation;

    /** Generation page of the region that a re-export was made from; null for any other import. */
    private final @Nullable GenerationPage parentGeneration;

    private final Set<ExportedRegion> children = new HashSet<>();

    private final @Nullable SharedSegment memory;
    private final Mapper mapper;

    /** Guards the two below it. */
    private final Object serving = new Object();

    /** The memory as it is mapped for peers of this process; null as long as it is not. */
    private @Nullable SharedSegment served;

    /** Completes when nothing is mapped any more by attempts that have failed. */
    private CompletableFuture<?> failedAttempts = CompletableFuture.completedFuture(null);

    /** A mapping under way, which a close cancels. */
    private volatile @Nullable CompletableFuture<SharedSegment> mapping;

    private boolean childrenFollow;
    private boolean closed;

    /**
     * Takes over the resources of a lease.
     *
     * @param threads of the bus
     * @param exporter the bus that serves it
     * @param descriptor of the memory; that of the mapped memory if it is mapped
     * @param memory mapped, or null for memory that is only re-exported
     * @param mapper for memory that is not mapped
     * @param pages generation pages, outermost first
     * @param generations value of each while the region is valid
     */
    public ImportedRegion(
            BusThreads threads,
            RegionAddress.Id exporter,
            Link link,
            boolean writable,
            long sizeBytes,
            int descriptor,
            @Nullable SharedSegment memory,
            Mapper mapper,
            List<SharedSegment> pages,
            long[] generations) {
        this.threads = threads;
        this.exporter = exporter;
        this.link = link;
        this.writable = writable;
        this.sizeBytes = sizeBytes;
        this.descriptor = descriptor;
        this.memory = memory;
        this.mapper = mapper;
        this.generation = GenerationPage.adopt(pages.getFirst(), generations[0]);
        this.parentGeneration =
                pages.size() > 1 ? GenerationPage.adopt(pages.get(1), generations[1]) : null;
        if (Origins.isRecorded()) {
            Origins.opened(originName());
        }
    }

    private String originName() {
        return "lease " + Integer.toHexString(System.identityHashCode(this)) + " of a region";
    }

    /** The mapped memory, read-only if the grant is; null if it was imported without a mapping. */
    public @Nullable SharedSegment memory() {
        return memory;
    }

    /**
     * Maps the memory of a lease without a mapping, so that this process can serve it to peers of
     * its own; {@link #memory()} stays null. Waits for the mapping workers, the first time. It is
     * unmapped with the close. Any thread but the bus thread.
     *
     * @return null if the lease is closed or revoked
     * @throws FabricException LIMIT, NO_MEMORY, MALFORMED or SYSTEM, as an import with a mapping;
     *     TIMED_OUT
     */
    public @Nullable SharedSegment mapForPeers() {
        synchronized (serving) {
            // A close waits for this lock before it unmaps the pages of the generations.
            if (isClosed() || revokedWhileHeld()) {
                return null;
            }
            SharedSegment known = memory == null ? served : memory;
            if (known == null) {
                known = map();
                served = known;
            }
            return known;
        }
    }

    private boolean isClosed() {
        synchronized (children) {
            return closed;
        }
    }

    private @Nullable SharedSegment map() {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        CompletableFuture<SharedSegment> begun;
        try {
            begun =
                    mapper.begin(
                            FileDescriptors.duplicate(descriptor),
                            () -> {
                                boolean _ = gone.complete(null);
                            });
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "memory cannot be mapped for peers: " + Reason.of(e),
                    e);
        }
        mapping = begun;
        if (isClosed()) { // meanwhile: that close has not seen the mapping
            boolean _ = begun.cancel(false);
        }
        boolean mapped = false;
        try {
            SharedSegment made = await(begun);
            mapped = made != null;
            return made;
        } finally {
            mapping = null;
            if (!mapped) {
                failedAttempts = CompletableFuture.allOf(failedAttempts, gone);
            }
        }
    }

    /** Waits for a mapping, which has ended afterwards; null if a close has cancelled it. */
    private @Nullable SharedSegment await(CompletableFuture<SharedSegment> begun) {
        long limitNanos = MAPPING_NANOS + sizeBytes * MAPPING_NANOS_PER_BYTE;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return begun.get(limitNanos, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (CancellationException e) {
                    return null;
                } catch (TimeoutException e) {
                    if (!begun.cancel(false)) {
                        continue; // it has just ended
                    }
                    throw new FabricException(
                            FabricException.Kind.TIMED_OUT,
                            "memory is not mapped for peers in time: sizeBytes="
                                    + sizeBytes
                                    + ", limitNanos="
                                    + limitNanos,
                            e);
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof FabricException failure
                            ? failure
                            : new IllegalStateException("mapping failed", e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * The bus that exports it. Two regions of the same bus come from the same peer; process ids do
     * not show that, since they are reused and differ between namespaces.
     */
    public RegionAddress.Id exporter() {
        return exporter;
    }

    /** Size of the region. */
    public long sizeBytes() {
        return sizeBytes;
    }

    /** Whether this process may write. */
    public boolean writable() {
        return writable;
    }

    /**
     * Whether the region cannot be used any more: it was revoked, or its exporter has ended. To be
     * checked before each use; no system call, one load per generation page.
     */
    public boolean revoked() {
        GenerationPage parent = parentGeneration;
        return generation.revoked() || (parent != null && parent.revoked()) || link.peerGone();
    }

    /**
     * The same at less cost, for a thread that prevents the lease from being closed meanwhile;
     * otherwise the JVM crashes.
     */
    public boolean revokedWhileHeld() {
        GenerationPage parent = parentGeneration;
        return generation.revokedWhileHeld()
                || (parent != null && parent.revokedWhileHeld())
                || link.peerGone();
    }

    /**
     * Whether the exporter, or the process that re-exported the region, has revoked it explicitly,
     * in contrast to one that has ended.
     */
    public boolean revokedExplicitly() {
        GenerationPage parent = parentGeneration;
        return generation.revokedExplicitly() || (parent != null && parent.revokedExplicitly());
    }

    /** The link to the exporter; its peer is gone when the exporter ends or revokes. */
    public Link link() {
        return link;
    }

    /**
     * Ends the lease and all re-exports of it. No other use may be in progress. Returns at once:
     * the segment becomes inaccessible, and mapping workers unmap the memory. The exporter is told
     * when that has been done and no re-export is held any more: until then it must not reuse the
     * memory.
     */
    @Override
    public void close() {
        List<ExportedRegion> dependents;
        synchronized (children) {
            if (closed) {
                return;
            }
            closed = true;
            dependents = List.copyOf(children);
            children.clear();
        }
        if (Origins.mayBeRecorded()) {
            Origins.closes(originName());
        }
        dependents.forEach(ExportedRegion::revoke);
        CompletableFuture<SharedSegment> begun = mapping;
        if (begun != null) {
            boolean _ = begun.cancel(false);
        }
        SharedSegment forPeers;
        CompletableFuture<?> attempts;
        synchronized (serving) {
            forPeers = served;
            attempts = failedAttempts;
        }
        List<SharedSegment> mapped =
                Stream.of(memory, forPeers, page(parentGeneration), generation.page())
                        .filter(Objects::nonNull)
                        .toList();
        if (memory == null) {
            threads.closer().closeRefused(descriptor);
        }
        // Last: its end tells the exporter that neither this process nor its importers map the
        // memory.
        AtomicInteger holders = new AtomicInteger(mapped.size() + dependents.size() + 1);
        Runnable released =
                () -> {
                    if (holders.decrementAndGet() == 0) {
                        link.close();
                    }
                };
        dependents.forEach(child -> child.onReleased(released));
        mapped.forEach(segment -> segment.release(threads, released));
        var _ = attempts.thenRun(released);
    }

    private static @Nullable SharedSegment page(@Nullable GenerationPage generation) {
        return generation == null ? null : generation.page();
    }

    int descriptor() {
        return descriptor;
    }

    /** Whether the seals prevent every holder of the descriptor from writing. */
    boolean sealedReadOnly() {
        return (Memfd.seals(descriptor()) & Memfd.SEAL_FUTURE_WRITE) != 0;
    }

    /** The generation page of an import that may be re-exported; chains end after one re-export. */
    GenerationPage generation() {
        return generation;
    }

    boolean isReexport() {
        return parentGeneration != null;
    }

    /**
     * Adds a re-export: it is revoked when this import closes, and when the exporter ends, which
     * its importers could not detect.
     *
     * @return false if the import is closed already
     */
    boolean addChild(ExportedRegion child) {
        boolean first;
        synchronized (children) {
            if (closed) {
                return false;
            }
            children.add(child);
            first = !childrenFollow;
            childrenFollow = true;
        }
        child.onReleased(() -> removeChild(child));
        if (first) {
            link.onPeerGone(this::exporterGone);
        } else if (link.peerGone()) { // exporterGone may have run before this one was added
            exporterGone();
        }
        return true;
    }

    /** Revokes the re-exports: their importers see the same end of the exporter as this process. */
    private void exporterGone() {
        List<ExportedRegion> dependents;
        boolean explicitly;
        synchronized (children) {
            if (closed) {
                return; // and the generation pages must not be accessed any more
            }
            dependents = List.copyOf(children);
            explicitly = revokedExplicitly();
        }
        dependents.forEach(explicitly ? ExportedRegion::revoke : ExportedRegion::exporterEnded);
    }

    private void removeChild(ExportedRegion child) {
        synchronized (children) {
            children.remove(child);
        }
    }

    /** Number of re-exports that importers may still hold. */
    int children() {
        synchronized (children) {
            return children.size();
        }
    }
}
