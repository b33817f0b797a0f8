package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.RestrictedThreads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory that is not shared with other processes, on large pages if the system provides them. Any
 * thread may call any method.
 */
public final class PrivateSegment {
    /**
     * Alignment of large pages on systems with pages of 4 KiB. Elsewhere they are larger, and the
     * kernel aligns as it can.
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
     * Allocates memory, filled with zeros; every page is present when this returns.
     *
     * @param sizeBytes at least 1
     * @throws FabricException NO_MEMORY if there is not enough; SYSTEM if a call fails
     */
    public static PrivateSegment allocate(long sizeBytes) {
        if (sizeBytes < 1) {
            throw new FabricException(
                    FabricException.Kind.NOT_SUPPORTED,
                    "memory needs at least one byte: sizeBytes=" + sizeBytes);
        }
        String notAvailable = "memory not available: sizeBytes=" + sizeBytes;
        if (sizeBytes > Long.MAX_VALUE - LARGE_PAGE_BYTES - MemoryMapping.pageSize()) {
            throw new FabricException(FabricException.Kind.NO_MEMORY, notAvailable);
        }
        NewMemory memory = NewMemory.checked(notAvailable, sizeBytes);
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
            memory.populate(
                    bytes,
                    (from, until) -> MemoryMapping.populate(address + from, until - from, true));
            made = new PrivateSegment(mappedAt, mappedBytes, address, sizeBytes);
            return made;
        } catch (LinuxException e) {
            throw new FabricException(
                    SharedSegment.outOfMemory(e)
                            ? FabricException.Kind.NO_MEMORY
                            : FabricException.Kind.SYSTEM,
                    notAvailable + ", " + e.getMessage(),
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

    /** Releases the memory; idempotent. Waits for a call in another thread that accesses it. */
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
