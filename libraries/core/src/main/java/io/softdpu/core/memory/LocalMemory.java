package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.PrivateSegment;
import java.lang.foreign.MemorySegment;

/**
 * Private memory of this process, for an {@link Mmap} that is not exported, such as the blocks of a
 * target. It is on large pages if the system provides them on request, which {@link SharedMemory}
 * rarely gets; large pages avoid TLB misses in large memory.
 *
 * <p>It is allocated and populated at once: allocate it during the start of the program. Any
 * thread.
 */
public final class LocalMemory implements AutoCloseable {
    private final PrivateSegment memory;
    private final Dependents dependents = new Dependents(() -> "localMemoryBytes=" + sizeBytes());

    private LocalMemory(PrivateSegment memory) {
        this.memory = memory;
    }

    /**
     * Allocates memory, filled with zeros.
     *
     * @param sizeBytes size, at least 1
     * @throws DpuException INVALID_VALUE if the size is not positive; NO_MEMORY if there is not
     *     enough; OPERATING_SYSTEM if a call fails
     */
    public static LocalMemory allocate(long sizeBytes) {
        if (sizeBytes < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE, "size is not positive: sizeBytes=" + sizeBytes);
        }
        try {
            return new LocalMemory(PrivateSegment.allocate(sizeBytes));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * The memory. It can be used by any thread until {@link #close()}; after that each access
     * throws IllegalStateException.
     *
     * @throws DpuException BAD_STATE if it is closed
     */
    public MemorySegment segment() {
        dependents.requireOpen();
        return memory.segment();
    }

    /** The requested size. */
    public long sizeBytes() {
        return memory.segment().byteSize();
    }

    /**
     * Releases the memory; idempotent. Waits for a call in another thread that accesses the memory,
     * such as a channel's.
     *
     * @throws DpuException IN_USE while a started mmap is over it
     */
    @Override
    public void close() {
        if (dependents.close()) {
            memory.release();
        }
    }

    Dependents dependents() {
        return dependents;
    }
}
