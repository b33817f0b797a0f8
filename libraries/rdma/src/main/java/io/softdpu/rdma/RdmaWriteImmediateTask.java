package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that writes the data of a local list of bufs into the peer's memory, as an {@link
 * RdmaWriteTask} does, and then completes a receive task of the peer with a 32-bit immediate value
 * (RDMA guide, write with immediate task).
 *
 * <p>The receive task's buf is not used: it has {@link RdmaOpcode#WRITE_IMMEDIATE}, the value, and
 * the number of bytes written as its result. The value arrives after the data, so that a peer that
 * has the value sees the data. It waits or fails without a receive task like a send; the data may
 * then be written without the value.
 *
 * <p>The refusals and failures are those of {@link RdmaWriteTask}, and IO_FAILED if the peer had no
 * receive task and the retries are exhausted.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaWriteImmediateTask extends Task permits WriteImmediateTask {
    /**
     * The connection to the peer that exported the remote memory.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaWriteImmediateTask setConnection(RdmaConnection connection);

    /**
     * The list with the data, by its head: the data sections of all its bufs are written.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Sets the list with the data, over local memory, by its head. */
    RdmaWriteImmediateTask setSource(Buf source);

    /**
     * The buf that the data is appended to.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Sets the buf that the data is appended to, over remote memory. */
    RdmaWriteImmediateTask setDestination(Buf destination);

    /** The immediate value. */
    int immediate();

    /** Sets the immediate value, which the peer gets as the same number. */
    RdmaWriteImmediateTask setImmediate(int immediate);

    @Override
    RdmaWriteImmediateTask setUserData(long userData);

    @Override
    RdmaWriteImmediateTask setUserObject(@Nullable Object userObject);
}
