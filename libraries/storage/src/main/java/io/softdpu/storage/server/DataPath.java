package io.softdpu.storage.server;

import io.softdpu.rdma.RdmaConnection;
import io.softdpu.storage.wire.IoType;

/**
 * Way of the bytes of requests between the volume and the memory of the initiator: its memory, bufs
 * and tasks. Belongs to the worker's thread; allocates nothing once tasks are prepared.
 */
interface DataPath extends AutoCloseable {
    /**
     * Allocates all tasks.
     *
     * @param connection of io_data, connected
     */
    void prepareTasks(RdmaConnection connection);

    /**
     * Begins to move the bytes of a request, whose ranges have been checked. It ends with a call of
     * {@link TargetWorker#answer}, maybe before this returns.
     *
     * @param slot of the request, which has none under way
     * @param type READ or WRITE, as the initiator sees it
     */
    void begin(int slot, IoType type, long sizeBytes, long requesterOffset, long storageOffset);

    /** Releases bufs and memory, after all contexts were closed. */
    @Override
    void close();
}
