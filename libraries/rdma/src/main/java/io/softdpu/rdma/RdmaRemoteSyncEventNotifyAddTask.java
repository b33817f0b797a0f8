package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import org.jspecify.annotations.Nullable;

/**
 * Task that adds a number to a peer's sync event atomically, wakes all who wait for the event, and
 * appends the value before to a local buf (RDMA guide, add remote sync event task). The sum wraps
 * around at 64 bits; the value before is in the byte order of the processor.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, the peer's instance does not grant RDMA_ATOMIC,
 * or the event was exported by another process than the connection's peer or created for another
 * device; INVALID_VALUE if the result has less than eight bytes of tailroom, or is one of several;
 * NOT_CONNECTED; AGAIN if the connection's send queue is full; IN_USE if a buf is in flight;
 * BAD_STATE if the event is closed; SHUTDOWN or CONNECTION_RESET if the peer has destroyed the
 * event or ended. It completes with the failures of {@link RdmaReadTask}.
 *
 * <p>A failure stops the context, also one for several connections, except CONNECTION_ABORTED by a
 * stop or {@link RdmaConnection#disconnect} of this side.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaRemoteSyncEventNotifyAddTask extends Task
        permits RemoteSyncEventNotifyAddTask {
    /**
     * The connection to the peer that exported the event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaRemoteSyncEventNotifyAddTask setConnection(RdmaConnection connection);

    /**
     * The event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RemoteSyncEvent event();

    /** Sets the event. */
    RdmaRemoteSyncEventNotifyAddTask setEvent(RemoteSyncEvent event);

    /**
     * The buf that the value before is appended to.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf result();

    /** Sets the buf that the value before is appended to, over local memory. */
    RdmaRemoteSyncEventNotifyAddTask setResult(Buf result);

    /** The number to add. */
    long addData();

    /** Sets the number to add. */
    RdmaRemoteSyncEventNotifyAddTask setAddData(long addData);

    @Override
    RdmaRemoteSyncEventNotifyAddTask setUserData(long userData);

    @Override
    RdmaRemoteSyncEventNotifyAddTask setUserObject(@Nullable Object userObject);
}
