package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that replaces eight bytes of the peer's memory if they have an expected value, and appends
 * the value before to a local buf (RDMA guide, atomic compare and swap task). It succeeds whether
 * the values were equal or not: the result tells which.
 *
 * <p>The operation is indivisible against other atomic operations on these bytes, by any
 * connection; numbers are in the byte order of the processor. The eight bytes begin at the data
 * offset of the destination, whether they count as its data or not, and its data length stays as it
 * is.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * local mmap lacks LOCAL_READ_WRITE or the device, or the peer's mmap or instance does not grant
 * RDMA_ATOMIC; INVALID_VALUE if the destination has fewer than eight bytes, begins at no multiple
 * of eight, or is not over an RDMA import, if the result has less than eight bytes of tailroom, or
 * if one of the two is a list of several; NOT_CONNECTED; AGAIN if the connection's send queue is
 * full; IN_USE if a buf is in flight; SHUTDOWN or CONNECTION_RESET if the peer has revoked the
 * memory or ended. It completes with the failures of {@link RdmaReadTask}.
 *
 * <p>A failure stops the context, also one for several connections, except CONNECTION_ABORTED by a
 * stop or {@link RdmaConnection#disconnect} of this side.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaCompareAndSwapTask extends Task permits CompareAndSwapTask {
    /**
     * The connection to the peer that exported the remote memory.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaCompareAndSwapTask setConnection(RdmaConnection connection);

    /**
     * The buf with the eight bytes, over remote memory.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    /** Sets the buf with the eight bytes, over remote memory. */
    RdmaCompareAndSwapTask setDestination(Buf destination);

    /**
     * The buf that the value before the operation is appended to.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf result();

    /** Sets the buf that the value before the operation is appended to, over local memory. */
    RdmaCompareAndSwapTask setResult(Buf result);

    /** The number that the bytes are compared with. */
    long compareData();

    /** Sets the number that the bytes are compared with. */
    RdmaCompareAndSwapTask setCompareData(long compareData);

    /** The number that replaces them if they are equal. */
    long swapData();

    /** Sets the number that replaces them if they are equal. */
    RdmaCompareAndSwapTask setSwapData(long swapData);

    @Override
    RdmaCompareAndSwapTask setUserData(long userData);

    @Override
    RdmaCompareAndSwapTask setUserObject(@Nullable Object userObject);
}
