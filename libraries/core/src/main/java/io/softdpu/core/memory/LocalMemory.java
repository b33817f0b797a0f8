package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.PrivateSegment;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process alone, for an {@link Mmap} that is not exported: what a target keeps its
 * blocks in, say. It is on large pages where the system gives them to those who ask, which {@link
 * SharedMemory} gets hardly anywhere: each access to another ordinary page of a large memory has to
 * look the page up first.
 *
 * <p>All of it is allocated and touched at once: allocate it while the program starts, not while it
 * works. Any thread.
 */
public final class LocalMemory implements AutoCloseable {
    private final PrivateSegment memory;
    private final Usage usage = new Usage(() -> "localMemoryBytes=" + sizeBytes());

    private LocalMemory(PrivateSegment memory) {
        this.memory = memory;
    }

    /**
     * Allocates memory, filled with zeros.
     *
     * @param sizeBytes how much, at least 1
     * @throws DpuException INVALID_VALUE if the size is not positive; NO_MEMORY if there is not so
     *     much; OPERATING_SYSTEM if a call fails
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
        usage.requireOpen();
        return memory.segment();
    }

    /** The size that was asked for. */
    public long sizeBytes() {
        return memory.segment().byteSize();
    }

    /**
     * Gives the memory back; closing twice does nothing. A call that works on the memory in another
     * thread, of a channel for one, is waited for.
     *
     * @throws DpuException IN_USE while an mmap is over it
     */
    @Override
    public void close() {
        if (usage.close()) {
            memory.release();
        }
    }

    Usage usage() {
        return usage;
    }
}
