package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access to internals of mmaps and bufs: the part that every library needs, and the part of the
 * bus.
 *
 * @param <M> the class of mmaps
 * @param <B> the class of bufs
 * @param <P> the class of permissions
 * @param <D> the class of devices
 */
public abstract class MemoryAccess<M, B, P, D> extends Regions<M, B, P, D> {
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

    /**
     * Exports the mmap for a library. Any thread.
     *
     * @throws DpuException as {@code BusServices.exportFor}
     */
    public abstract ExportedRegion exportFor(
            M mmap, D device, boolean writable, @Nullable LeaseListener listener);
}
