package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access to what mmaps and bufs keep from their users; {@code spi.Regions} says what each method
 * does. Nothing here allocates except the exports.
 *
 * @param <M> the class of mmaps
 * @param <B> the class of bufs
 * @param <P> the class of permissions
 * @param <D> the class of devices
 */
public abstract class MemoryAccess<M, B, P, D> {
    private static volatile @Nullable MemoryAccess<?, ?, ?, ?> installed;

    private final List<Class<?>> types;

    /** For the memory package alone. */
    protected MemoryAccess(Class<M> mmaps, Class<B> bufs, Class<P> permissions, Class<D> devices) {
        this.types = List.of(mmaps, bufs, permissions, devices);
    }

    /** The one that the class of mmaps has installed. */
    @SuppressWarnings("unchecked") // as require says
    public static <M, B, P, D> MemoryAccess<M, B, P, D> of(
            Class<M> mmaps, Class<B> bufs, Class<P> permissions, Class<D> devices) {
        MemoryAccess<?, ?, ?, ?> access = ClassLoading.access(mmaps, () -> installed);
        ClassLoading.require(access.types, List.of(mmaps, bufs, permissions, devices));
        return (MemoryAccess<M, B, P, D>) access;
    }

    /** Called once, by the class of mmaps. */
    public static void install(MemoryAccess<?, ?, ?, ?> access) {
        installed = access;
    }

    // ---- mmaps, any thread ----

    /** Whether these rights are granted and the memory is there. */
    public abstract Status checkUse(M mmap, P needed);

    /** Whether the device was added to the mmap. */
    public abstract boolean hasDevice(M mmap, D device);

    /** The memory as tasks see it; null for an import without a mapping, and after close. */
    public abstract @Nullable MemorySegment mapped(M mmap);

    /** The lease behind an imported mmap; null for a local one. */
    public abstract @Nullable ImportedRegion importedRegion(M mmap);

    /**
     * Exports the mmap for a library.
     *
     * @throws DpuException as {@code Regions.exportFor}
     */
    public abstract ExportedRegion exportFor(
            M mmap, D device, boolean writable, @Nullable LeaseListener listener);

    /** The number by which RDMA addresses the first byte. */
    public abstract long remoteAddress(M mmap);

    /** The key of the mmap's RDMA export, or of the export that it was imported from; 0: none. */
    public abstract int remoteKey(M mmap);

    /**
     * Keeps the mmap from being closed.
     *
     * @throws DpuException BAD_STATE if it is not started
     */
    public abstract void retain(M mmap);

    /** Takes {@link #retain} back. */
    public abstract void release(M mmap);

    // ---- bufs, the thread that has them ----

    /** Takes the list for a task to read, all of it or nothing. */
    public abstract Status markSource(B list, int maxListLength);

    /** Takes the list for a task to write, all of it or nothing. */
    public abstract Status markDestination(B list, int maxListLength, long atMostBytes);

    /** Gives the list back to the user. */
    public abstract void clearInFlight(B list);

    /**
     * Counts bytes that were written into the tailroom of one buf.
     *
     * @throws DpuException INVALID_VALUE if the tailroom is smaller
     */
    public abstract void appendData(B buf, long sizeBytes);
}
