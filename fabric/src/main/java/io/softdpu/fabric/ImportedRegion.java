package io.softdpu.fabric;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This process's lease of a region that another exports: mapped, or held as a descriptor only where
 * it is merely passed on.
 *
 * <p>{@link #revoked()} and {@link #link()} may be used by any thread; the owner closes after its
 * last use has ended.
 */
public final class ImportedRegion implements AutoCloseable {
    private final Link link;
    private final boolean writable;
    private final long sizeBytes;
    private final int descriptor;
    private final @Nullable SharedSegment memory;
    private final GenerationPage[] generations;
    private final List<ExportedRegion> children = new ArrayList<>();
    private boolean closed;

    ImportedRegion(
            Link link,
            boolean writable,
            long sizeBytes,
            int descriptor,
            @Nullable SharedSegment memory,
            GenerationPage[] generations) {
        this.link = link;
        this.writable = writable;
        this.sizeBytes = sizeBytes;
        this.descriptor = descriptor;
        this.memory = memory;
        this.generations = generations;
    }

    /**
     * The mapped memory, read-only where the grant is; null if it was imported without a mapping.
     */
    public @Nullable SharedSegment memory() {
        return memory;
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
        return withdrawn() || link.peerGone();
    }

    /**
     * Whether the exporter has withdrawn the region on purpose. It tells this from an exporter that
     * has ended: one that withdraws shuts its half of the link down as well.
     */
    public boolean withdrawn() {
        for (GenerationPage page : generations) {
            if (page.revoked()) {
                return true;
            }
        }
        return false;
    }

    /** The doorbell to the exporter; gone when the exporter ends or revokes. */
    public Link link() {
        return link;
    }

    /** Gives the lease back, with every re-export of it. No other use may be going on. */
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
        dependents.forEach(ExportedRegion::revoke);
        for (GenerationPage page : generations) {
            page.release();
        }
        if (memory != null) {
            memory.release();
        } else {
            FileDescriptors.close(descriptor);
        }
        link.close(); // last: its end tells the exporter that nothing is mapped here any more
    }

    int descriptor() {
        return memory != null ? memory.descriptor() : descriptor;
    }

    /** Whether the kernel keeps every holder of the descriptor from writing. */
    boolean sealedReadOnly() {
        return (Memfd.seals(descriptor()) & Memfd.SEAL_FUTURE_WRITE) != 0;
    }

    /** The only generation of an import that may be passed on; chains end after one re-export. */
    GenerationPage generation() {
        return generations[0];
    }

    boolean isReexport() {
        return generations.length > 1;
    }

    /**
     * Ties a re-export to this import: it is revoked when this closes, and when the exporter ends,
     * which its importers could not see by themselves.
     *
     * @return false if the import is closed already
     */
    boolean addChild(ExportedRegion child) {
        synchronized (children) {
            if (closed) {
                return false;
            }
            children.add(child);
        }
        link.onPeerGone(child::revoke);
        return true;
    }
}
