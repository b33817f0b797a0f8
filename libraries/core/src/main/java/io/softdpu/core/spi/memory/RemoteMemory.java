package io.softdpu.core.spi.memory;

import io.softdpu.core.check.Refusal;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory of an RDMA peer: that behind an mmap imported for RDMA, or the counter of a remote sync
 * event. A transport accesses both alike; whether the peer grants the access is checked before.
 *
 * <p>Any thread that keeps it open: by a buf in flight in it, or by marking the sync event. Nothing
 * here allocates, unless a refusal is returned.
 */
public interface RemoteMemory {
    /**
     * Checks that the memory still exists. To be called at submission and in each progress that
     * continues: an exporter can withdraw it at any time.
     *
     * @return null if it does; SHUTDOWN if the exporter has withdrawn it; CONNECTION_RESET if the
     *     exporter has ended
     */
    @Nullable Refusal checkAlive();

    /** Address of the first byte, as the exporter names it; a packet names memory by it. */
    long address();

    /** The key by which the exporter grants access; a packet names memory by it. */
    int key();

    /**
     * Whether the device with this GID has exported the memory: its key is valid there alone.
     *
     * @param gid 16 bytes, not changed
     */
    boolean isOf(byte[] gid);

    /** The whole memory, mapped writable if the peer grants that; null without a mapping. */
    @Nullable MemorySegment memory();

    /**
     * To be called by the transport that changes {@linkplain #memory() mapped memory}, right after
     * each executed write or atomic operation: not at its completion, which may wait for another
     * process. The counter of a sync event wakes those who wait for it; other memory does nothing.
     */
    default void changed() {}
}
