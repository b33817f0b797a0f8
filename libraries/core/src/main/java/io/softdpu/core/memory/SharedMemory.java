package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.access.SharedMemoryAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;

/**
 * Memory that can be exported: the program owns it, and can give the other side of the PCIe bus or
 * an RDMA peer access through an {@link Mmap}.
 *
 * <p>It is allocated and populated at once, which takes about 2 seconds per GiB: allocate it during
 * the start of the program. Any thread.
 */
public final class SharedMemory implements AutoCloseable {
    static {
        DependentsAccess.install(SharedMemory.class, SharedMemory::dependents);
        SharedMemoryAccess.install(
                new SharedMemoryAccess<>(SharedMemory.class) {
                    @Override
                    public SharedSegment shared(SharedMemory memory) {
                        return memory.shared;
                    }
                });
    }

    private final SharedSegment shared;
    private final Dependents dependents = new Dependents(() -> "sharedMemoryBytes=" + sizeBytes());

    private SharedMemory(SharedSegment shared) {
        this.shared = shared;
    }

    /**
     * Allocates memory, filled with zeros.
     *
     * @param sizeBytes size, at least 1
     * @throws DpuException INVALID_VALUE if the size is not positive; NO_MEMORY if there is not
     *     enough, or if an open machine retains more memory of revoked exports than its limit;
     *     OPERATING_SYSTEM if a call fails
     */
    public static SharedMemory allocate(long sizeBytes) {
        if (sizeBytes < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE, "size is not positive: sizeBytes=" + sizeBytes);
        }
        MachineAccess.of(Machine.class).requireCapacityOnAll(sizeBytes);
        try {
            return new SharedMemory(SharedSegment.allocate("softdpu", sizeBytes));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * The memory. A segment from here can be used by any thread until {@link #close()}; after that
     * each access throws IllegalStateException.
     *
     * @throws DpuException BAD_STATE if it is closed
     */
    public MemorySegment segment() {
        dependents.requireOpen();
        return shared.segment();
    }

    /** The requested size. */
    public long sizeBytes() {
        return shared.sizeBytes();
    }

    /**
     * Releases the memory; idempotent. Memory that a peer still has mapped stays allocated until
     * the peer releases it, and counts as retained until then.
     *
     * @throws DpuException IN_USE while a started mmap or sync event is over it
     */
    @Override
    public void close() {
        if (dependents.close()) {
            shared.release();
        }
    }

    /** Refuses memory that importers of an export that was revoked may still write into. */
    void requireReleased() {
        try {
            shared.requireReleased();
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** Seals it for the permissions of an mmap. */
    void seal(Permissions granted) {
        try {
            shared.seal(!granted.allowsPciWrite() && !granted.allowsRdmaWrite());
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    SharedSegment shared() {
        return shared;
    }

    Dependents dependents() {
        return dependents;
    }
}
