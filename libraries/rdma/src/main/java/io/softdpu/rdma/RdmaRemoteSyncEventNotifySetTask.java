package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import org.jspecify.annotations.Nullable;

/**
 * Task that sets a peer's sync event to the value in a local list of bufs, and wakes all who wait
 * for the event (RDMA guide, set remote sync event task). The data of the list are eight bytes: a
 * number in the byte order of the processor. It is set by a single store.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, the peer's instance does not grant RDMA_WRITE,
 * or the event was exported by another process than the connection's peer or created for another
 * device; INVALID_VALUE if the data of the list are not eight bytes, or it is longer than {@link
 * Rdma#maxSendBufferListLength()}; NOT_CONNECTED; AGAIN if the connection's send queue is full;
 * IN_USE if a buf is in flight; BAD_STATE if the event is closed; SHUTDOWN or CONNECTION_RESET if
 * the peer has destroyed the event or ended. It completes with the failures of {@link
 * RdmaWriteTask}; the event's value is undefined then: the old or the new one.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaRemoteSyncEventNotifySetTask extends Task
        permits RemoteSyncEventNotifySetTask {
    /**
     * The connection to the peer that exported the event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaRemoteSyncEventNotifySetTask setConnection(RdmaConnection connection);

    /**
     * The event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RemoteSyncEvent event();

    /** Sets the event. */
    RdmaRemoteSyncEventNotifySetTask setEvent(RemoteSyncEvent event);

    /**
     * The list with the value, by its head.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Sets the list with the value, eight bytes over local memory, by its head. */
    RdmaRemoteSyncEventNotifySetTask setSource(Buf source);

    @Override
    RdmaRemoteSyncEventNotifySetTask setUserData(long userData);

    @Override
    RdmaRemoteSyncEventNotifySetTask setUserObject(@Nullable Object userObject);
}
