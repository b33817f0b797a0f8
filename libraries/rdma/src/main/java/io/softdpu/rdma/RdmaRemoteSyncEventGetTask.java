package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import org.jspecify.annotations.Nullable;

/**
 * Task that fetches the value of a peer's sync event and appends its eight bytes to the data of a
 * local list of bufs (RDMA guide, get remote sync event task). The value is a number in the byte
 * order of the processor.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, the peer's instance does not grant RDMA_READ, or
 * the event was exported by another process than the connection's peer or created for another
 * device; INVALID_VALUE if the list has less than eight bytes of tailroom or is longer than {@link
 * Rdma#maxSendBufferListLength()}; NOT_CONNECTED; AGAIN if the connection's send queue is full;
 * IN_USE if a buf is in flight; BAD_STATE if the event is closed; SHUTDOWN or CONNECTION_RESET if
 * the peer has destroyed the event or ended. It completes with the failures of {@link
 * RdmaReadTask}.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaRemoteSyncEventGetTask extends Task permits RemoteSyncEventGetTask {
    /**
     * The connection to the peer that exported the event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaRemoteSyncEventGetTask setConnection(RdmaConnection connection);

    /**
     * The event.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RemoteSyncEvent event();

    /** Sets the event. */
    RdmaRemoteSyncEventGetTask setEvent(RemoteSyncEvent event);

    /**
     * The list that the value is appended to, by its head.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Sets the list that the value is appended to, over local memory, by its head. */
    RdmaRemoteSyncEventGetTask setDestination(Buf destination);

    /** Bytes that were received, 8; valid after success. */
    long resultLength();

    @Override
    RdmaRemoteSyncEventGetTask setUserData(long userData);

    @Override
    RdmaRemoteSyncEventGetTask setUserObject(@Nullable Object userObject);
}
