package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;

/**
 * Memory that can be exported: the program owns it, reads and writes it like any other, and may let
 * the other side of the PCIe bus or an RDMA peer work on it through an {@link Mmap}.
 *
 * <p>All of it is allocated and touched at once, which takes about 2 seconds a GiB: allocate it
 * while the program starts, not while it works. Any thread.
 */
public final class SharedMemory implements AutoCloseable {
    private final SharedSegment shared;
    private final Usage usage = new Usage(() -> "sharedMemoryBytes=" + sizeBytes());

    private SharedMemory(SharedSegment shared) {
        this.shared = shared;
    }

    /**
     * Allocates memory, filled with zeros.
     *
     * @param sizeBytes how much, at least 1
     * @throws DpuException INVALID_VALUE if the size is not positive; NO_MEMORY if there is not so
     *     much, or if an open machine still keeps back more than its limit of memory that peers
     *     have not let go of; OPERATING_SYSTEM if a call fails
     */
    public static SharedMemory allocate(long sizeBytes) {
        if (sizeBytes < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE, "size is not positive: sizeBytes=" + sizeBytes);
        }
        MachineAccess.of(Machine.class).requireRoomOnAll(sizeBytes);
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
        usage.requireOpen();
        return shared.segment();
    }

    /** The size that was asked for. */
    public long sizeBytes() {
        return shared.sizeBytes();
    }

    /**
     * Gives the memory up; closing twice does nothing. What a peer still has mapped stays with the
     * peer until it lets go, and counts as kept back until then.
     *
     * @throws DpuException IN_USE while an mmap is over it
     */
    @Override
    public void close() {
        if (usage.close()) {
            shared.release();
        }
    }

    /** Refuses memory that importers of an export that was withdrawn may still write into. */
    void requireLetGo() {
        try {
            shared.requireLetGo();
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** Seals it for what an mmap lets others do with it. */
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

    Usage usage() {
        return usage;
    }
}
