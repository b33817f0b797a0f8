package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.RestrictedThreads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory that no other process sees, on large pages where the system has them. Any thread may call
 * any method.
 */
public final class PrivateSegment {
    /**
     * What a large page is aligned to where ordinary ones have 4 KiB. Elsewhere they are larger,
     * and the kernel aligns what it can.
     */
    private static final long LARGE_PAGE_BYTES = 2L << 20;

    private final long mappedAt;
    private final long mappedBytes;
    private final Arena arena;
    private final MemorySegment segment;
    private final AtomicBoolean released = new AtomicBoolean();

    private PrivateSegment(long mappedAt, long mappedBytes, long address, long sizeBytes) {
        this.mappedAt = mappedAt;
        this.mappedBytes = mappedBytes;
        this.arena = Arena.ofShared();
        this.segment = MemoryMapping.segment(address, sizeBytes, arena);
    }

    /**
     * Allocates memory, filled with zeros; every page is there when this returns.
     *
     * @param sizeBytes at least 1
     * @throws FabricException NO_MEMORY where there is not so much; SYSTEM if a call fails
     */
    public static PrivateSegment allocate(long sizeBytes) {
        if (sizeBytes < 1) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "memory needs at least one byte: sizeBytes=" + sizeBytes);
        }
        if (sizeBytes > Long.MAX_VALUE - LARGE_PAGE_BYTES - MemoryMapping.pageSize()) {
            throw new FabricException(
                    FabricException.Kind.NO_MEMORY, "memory not available: sizeBytes=" + sizeBytes);
        }
        long bytes = SharedSegment.roundUpToPage(sizeBytes);
        boolean large = bytes >= LARGE_PAGE_BYTES;
        long mappedBytes = large ? bytes + LARGE_PAGE_BYTES : bytes;
        long mappedAt = 0;
        PrivateSegment made = null;
        var scope = RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);
        try {
            mappedAt = MemoryMapping.mapPrivate(mappedBytes);
            long address = large ? alignUp(mappedAt) : mappedAt;
            if (large) {
                MemoryMapping.preferLargePages(address, bytes);
            }
            MemoryMapping.populate(address, bytes, true);
            made = new PrivateSegment(mappedAt, mappedBytes, address, sizeBytes);
            return made;
        } catch (LinuxException e) {
            throw new FabricException(
                    SharedSegment.outOfMemory(e)
                            ? FabricException.Kind.NO_MEMORY
                            : FabricException.Kind.SYSTEM,
                    "memory not available: sizeBytes=" + sizeBytes + ", " + e.getMessage(),
                    e);
        } finally {
            if (made == null && mappedAt != 0) {
                MemoryMapping.unmap(mappedAt, mappedBytes);
            }
            RestrictedThreads.leave(scope);
        }
    }

    /** The memory; after {@link #release} each access throws IllegalStateException. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Gives the memory back; the second time does nothing. A call that works on it in another
     * thread is waited for.
     */
    public void release() {
        if (released.compareAndSet(false, true)) {
            SharedSegment.close(arena);
            var scope = RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);
            try {
                MemoryMapping.unmap(mappedAt, mappedBytes);
            } finally {
                RestrictedThreads.leave(scope);
            }
        }
    }

    private static long alignUp(long address) {
        return (address + LARGE_PAGE_BYTES - 1) & -LARGE_PAGE_BYTES;
    }
}
