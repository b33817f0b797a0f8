package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access to internals of mmaps and bufs: what {@code Regions} of the libraries does, and {@code
 * BusServices}.
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

    /** The installed access object. */
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

    /** As {@code Regions.checkUse}. */
    public abstract @Nullable Refusal checkUse(M mmap, P needed);

    /** As {@code Regions.checkUse}. */
    public abstract @Nullable Refusal checkUse(M mmap, D device, P needed);

    /** As {@code Regions.grantOf}. */
    public abstract @Nullable Grant grantOf(M mmap);

    /** The whole range of the mmap; null for an import without a mapping. */
    public abstract @Nullable MemorySegment mapped(M mmap);

    /** As {@code Regions.remoteOf}. */
    public abstract RemoteMemory remoteOf(M mmap);

    /** As {@code Regions.retain}. */
    public abstract void retain(M mmap);

    /** As {@code Regions.release}. */
    public abstract void release(M mmap);

    /** As {@code Regions.markSource}. */
    public abstract @Nullable Refusal markSource(B list, int maxListLength);

    /** As {@code Regions.markDestination}. */
    public abstract @Nullable Refusal markDestination(B list, int maxListLength, long atMostBytes);

    /** As {@code Regions.clearInFlight}. */
    public abstract void clearInFlight(B list);

    /** As {@code Regions.appendData}. */
    public abstract void appendData(B buf, long sizeBytes);

    /** As {@code Regions.rdmaKeyOf}. */
    public abstract MemoryKey rdmaKeyOf(M mmap, D device);

    /** As {@code Regions.importByKey}. */
    public abstract M importByKey(
            D device, byte[] gid, long address, int key, long sizeBytes, P permissions);

    /**
     * Exports the mmap for a library. Any thread.
     *
     * @throws DpuException as {@code BusServices.exportFor}
     */
    public abstract ExportedRegion exportFor(
            M mmap, D device, boolean writable, @Nullable LeaseListener listener);
}
