package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.Origins;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * This process's lease of a region that another exports: mapped, or held as a descriptor only where
 * it is merely passed on.
 *
 * <p>{@link #revoked()} and {@link #link()} may be used by any thread; the owner closes after its
 * last use has ended.
 */
public final class ImportedRegion implements AutoCloseable {
    private final BusThreads threads;
    private final RegionAddress.Id exporter;
    private final Link link;
    private final boolean writable;
    private final long sizeBytes;
    private final int descriptor;
    private final GenerationPage generation;

    /** That of the region which a re-export was made from; null for any other import. */
    private final @Nullable GenerationPage parentGeneration;

    private final Set<ExportedRegion> children = new HashSet<>();

    private final @Nullable SharedSegment memory;

    private boolean childrenFollow;
    private boolean closed;

    /**
     * Takes over what belongs to a lease.
     *
     * @param threads of the bus
     * @param exporter the bus that serves it
     * @param descriptor that of the memory; the mapped memory's where it is mapped
     * @param memory mapped, or null for memory that is only passed on
     * @param pages generation pages, outermost first
     * @param generations what each of them holds while the region is good
     */
    public ImportedRegion(
            BusThreads threads,
            RegionAddress.Id exporter,
            Link link,
            boolean writable,
            long sizeBytes,
            int descriptor,
            @Nullable SharedSegment memory,
            List<SharedSegment> pages,
            long[] generations) {
        this.threads = threads;
        this.exporter = exporter;
        this.link = link;
        this.writable = writable;
        this.sizeBytes = sizeBytes;
        this.descriptor = descriptor;
        this.memory = memory;
        this.generation = GenerationPage.adopt(pages.getFirst(), generations[0]);
        this.parentGeneration =
                pages.size() > 1 ? GenerationPage.adopt(pages.get(1), generations[1]) : null;
        if (Origins.RECORDED) {
            Origins.opened(originName());
        }
    }

    private String originName() {
        return "lease " + Integer.toHexString(System.identityHashCode(this)) + " of a region";
    }

    /**
     * The mapped memory, read-only where the grant is; null if it was imported without a mapping.
     */
    public @Nullable SharedSegment memory() {
        return memory;
    }

    /**
     * The bus that serves it. Two regions with the same one come from the same peer, which process
     * ids do not tell: they are used again, and mean others in another namespace.
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
     * Whether the region cannot be used any more: withdrawn, or its exporter has ended. Looked at
     * before each use; no syscall, one load a generation.
     */
    public boolean revoked() {
        GenerationPage parent = parentGeneration;
        return generation.revoked() || (parent != null && parent.revoked()) || link.peerGone();
    }

    /**
     * The same for a thread that keeps the lease from being closed meanwhile, which costs it less;
     * any other would end the JVM.
     */
    public boolean revokedWhileHeld() {
        GenerationPage parent = parentGeneration;
        return generation.revokedWhileHeld()
                || (parent != null && parent.revokedWhileHeld())
                || link.peerGone();
    }

    /**
     * Whether the exporter, or the process that passed the region on, has withdrawn it on purpose.
     * It tells this from one that has ended: who withdraws shuts its half of the link down as well.
     */
    public boolean withdrawn() {
        GenerationPage parent = parentGeneration;
        return generation.withdrawn() || (parent != null && parent.withdrawn());
    }

    /** The doorbell to the exporter; gone when the exporter ends or revokes. */
    public Link link() {
        return link;
    }

    /**
     * Gives the lease back, with every re-export of it. No other use may be going on. Returns at
     * once: the segment reaches the memory no more, and mapping workers unmap it. The exporter
     * learns of it when that has been done and no re-export is held any more: until then the memory
     * is not its own.
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
        if (Origins.RECORDED) {
            Origins.closes(originName());
        }
        dependents.forEach(ExportedRegion::revoke);
        List<SharedSegment> mapped =
                Stream.of(memory, page(parentGeneration), generation.page())
                        .filter(Objects::nonNull)
                        .toList();
        if (memory == null) {
            threads.closer().closeRefused(descriptor);
        }
        // Last: its end tells the exporter that nothing is mapped any more, here or further on.
        AtomicInteger holders = new AtomicInteger(mapped.size() + dependents.size());
        Runnable released =
                () -> {
                    if (holders.decrementAndGet() == 0) {
                        link.close();
                    }
                };
        dependents.forEach(child -> child.onLetGo(released));
        mapped.forEach(segment -> segment.release(threads, released));
    }

    private static @Nullable SharedSegment page(@Nullable GenerationPage generation) {
        return generation == null ? null : generation.page();
    }

    int descriptor() {
        return descriptor;
    }

    /** Whether the kernel keeps every holder of the descriptor from writing. */
    boolean sealedReadOnly() {
        return (Memfd.seals(descriptor()) & Memfd.SEAL_FUTURE_WRITE) != 0;
    }

    /** The only generation of an import that may be passed on; chains end after one re-export. */
    GenerationPage generation() {
        return generation;
    }

    boolean isReexport() {
        return parentGeneration != null;
    }

    /**
     * Ties a re-export to this import: it is revoked when this closes, and when the exporter ends,
     * which its importers could not see by themselves.
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
        child.onLetGo(() -> removeChild(child));
        if (first) {
            link.onPeerGone(this::exporterGone);
        } else if (link.peerGone()) { // the one above may have looked before this one was there
            exporterGone();
        }
        return true;
    }

    /** Revokes the re-exports: their importers see the same end of the exporter as this process. */
    private void exporterGone() {
        List<ExportedRegion> dependents;
        boolean onPurpose;
        synchronized (children) {
            if (closed) {
                return; // and the generations are not to be looked at any more
            }
            dependents = List.copyOf(children);
            onPurpose = withdrawn();
        }
        dependents.forEach(onPurpose ? ExportedRegion::revoke : ExportedRegion::exporterEnded);
    }

    private void removeChild(ExportedRegion child) {
        synchronized (children) {
            children.remove(child);
        }
    }

    /** Re-exports that somebody may still hold. */
    int children() {
        synchronized (children) {
            return children.size();
        }
    }
}
