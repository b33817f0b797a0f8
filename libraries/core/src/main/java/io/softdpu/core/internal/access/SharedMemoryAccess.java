package io.softdpu.core.internal.access;

import io.softdpu.fabric.memory.SharedSegment;
import org.jspecify.annotations.Nullable;

/**
 * Access to the segment behind memory that can be exported. Any thread; not for the data path.
 *
 * @param <M> the class of such memory
 */
public abstract class SharedMemoryAccess<M> {
    private static volatile @Nullable SharedMemoryAccess<?> installed;

    private final Class<M> memories;

    /** For the class of such memory alone. */
    protected SharedMemoryAccess(Class<M> memories) {
        this.memories = memories;
    }

    /** The installed access object. */
    @SuppressWarnings("unchecked") // as require says
    public static <M> SharedMemoryAccess<M> of(Class<M> memories) {
        SharedMemoryAccess<?> access = ClassLoading.access(memories, () -> installed);
        ClassLoading.require(access.memories, memories);
        return (SharedMemoryAccess<M>) access;
    }

    /** Called once, by the class of such memory. */
    public static void install(SharedMemoryAccess<?> access) {
        installed = access;
    }

    /** The segment; the memory's dependents keep it open. */
    public abstract SharedSegment shared(M memory);
}
