package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Context of a {@link BlockDevice}, usually one per core, whose tasks read and change its blocks.
 *
 * <p>The order: {@linkplain BlockDevice#createContext create}, configure one type of tasks or more,
 * connect to a progress engine, {@linkplain #start start}: it is RUNNING at once. Offsets and
 * lengths are in bytes, and multiples of the block size. A task that fails does not affect the
 * others, nor the context.
 *
 * <p>{@linkplain #stop Stopping} ends tasks in flight: those that the device has not begun with
 * SHUTDOWN, the others with their results. The context is STOPPING until the last of them has left
 * the device, be it a thread or the kernel, and all tasks have been freed; meanwhile the engine is
 * not blocked, and the memory of the bufs stays in use.
 *
 * <p>Thread: that of the engine; without one, any.
 */
public sealed interface BlockContext extends Context permits ChannelContext {
    /** Its block device. */
    BlockDevice blockDevice();

    /**
     * Sets the number of read tasks and the callbacks for their completion; a further call replaces
     * both, as for each type of tasks.
     *
     * @param count number of tasks in the pool
     * @param onSuccess callback for successful tasks
     * @param onFailure callback for failed tasks
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link BlockCapabilities#maxTasks()}
     */
    BlockContext setReadTasks(
            int count,
            BlockTaskCallback<BlockReadTask> onSuccess,
            BlockTaskCallback<BlockReadTask> onFailure);

    /**
     * Sets the number of write tasks and their callbacks.
     *
     * @throws DpuException as {@link #setReadTasks}; NOT_PERMITTED if the device is read-only
     */
    BlockContext setWriteTasks(
            int count,
            BlockTaskCallback<BlockWriteTask> onSuccess,
            BlockTaskCallback<BlockWriteTask> onFailure);

    /**
     * Sets the number of flush tasks and their callbacks.
     *
     * @throws DpuException as {@link #setReadTasks}; NOT_SUPPORTED if the device has none
     */
    BlockContext setFlushTasks(
            int count,
            BlockTaskCallback<BlockFlushTask> onSuccess,
            BlockTaskCallback<BlockFlushTask> onFailure);

    /**
     * Sets the number of discard tasks and their callbacks.
     *
     * @throws DpuException as {@link #setReadTasks}; NOT_SUPPORTED if the device has none;
     *     NOT_PERMITTED if it is read-only
     */
    BlockContext setDiscardTasks(
            int count,
            BlockTaskCallback<BlockDiscardTask> onSuccess,
            BlockTaskCallback<BlockDiscardTask> onFailure);

    /**
     * Sets the number of write-zeroes tasks and their callbacks.
     *
     * @throws DpuException as {@link #setReadTasks}; NOT_SUPPORTED if the device has none;
     *     NOT_PERMITTED if it is read-only
     */
    BlockContext setWriteZeroesTasks(
            int count,
            BlockTaskCallback<BlockWriteZeroesTask> onSuccess,
            BlockTaskCallback<BlockWriteZeroesTask> onFailure);

    /**
     * Sets the number of extents tasks and their callbacks.
     *
     * @throws DpuException as {@link #setReadTasks}; NOT_SUPPORTED if the device has none
     */
    BlockContext setExtentsTasks(
            int count,
            BlockTaskCallback<BlockExtentsTask> onSuccess,
            BlockTaskCallback<BlockExtentsTask> onFailure);

    /**
     * Allocates a read task.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes to read
     * @param destination the buf into whose tailroom they are read
     * @throws DpuException BAD_STATE unless RUNNING, and if the type was not configured; NO_MEMORY
     *     if all are allocated; INVALID_VALUE if the buf is null; NOT_PERMITTED from another thread
     */
    BlockReadTask allocateRead(long offsetBytes, long lengthBytes, Buf destination);

    /**
     * Does the same as {@link #allocateRead}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion. So for each type of tasks.
     *
     * @throws DpuException as {@link #allocateRead}, without NO_MEMORY
     */
    @Nullable BlockReadTask tryAllocateRead(long offsetBytes, long lengthBytes, Buf destination);

    /**
     * Allocates a write task, without FUA.
     *
     * @param offsetBytes offset in the device
     * @param source the buf whose data is written
     * @throws DpuException as {@link #allocateRead}
     */
    BlockWriteTask allocateWrite(long offsetBytes, Buf source);

    /**
     * Does the same as {@link #allocateWrite}, but returns null if all tasks are allocated.
     *
     * @throws DpuException as {@link #allocateWrite}, without NO_MEMORY
     */
    @Nullable BlockWriteTask tryAllocateWrite(long offsetBytes, Buf source);

    /**
     * Allocates a flush task.
     *
     * @throws DpuException as {@link #allocateRead}
     */
    BlockFlushTask allocateFlush();

    /**
     * Does the same as {@link #allocateFlush}, but returns null if all tasks are allocated.
     *
     * @throws DpuException as {@link #allocateFlush}, without NO_MEMORY
     */
    @Nullable BlockFlushTask tryAllocateFlush();

    /**
     * Allocates a discard task.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException as {@link #allocateRead}
     */
    BlockDiscardTask allocateDiscard(long offsetBytes, long lengthBytes);

    /**
     * Does the same as {@link #allocateDiscard}, but returns null if all tasks are allocated.
     *
     * @throws DpuException as {@link #allocateDiscard}, without NO_MEMORY
     */
    @Nullable BlockDiscardTask tryAllocateDiscard(long offsetBytes, long lengthBytes);

    /**
     * Allocates a write-zeroes task, without FUA, which may give the blocks up.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException as {@link #allocateRead}
     */
    BlockWriteZeroesTask allocateWriteZeroes(long offsetBytes, long lengthBytes);

    /**
     * Does the same as {@link #allocateWriteZeroes}, but returns null if all tasks are allocated.
     *
     * @throws DpuException as {@link #allocateWriteZeroes}, without NO_MEMORY
     */
    @Nullable BlockWriteZeroesTask tryAllocateWriteZeroes(long offsetBytes, long lengthBytes);

    /**
     * Allocates an extents task.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException as {@link #allocateRead}
     */
    BlockExtentsTask allocateExtents(long offsetBytes, long lengthBytes);

    /**
     * Does the same as {@link #allocateExtents}, but returns null if all tasks are allocated.
     *
     * @throws DpuException as {@link #allocateExtents}, without NO_MEMORY
     */
    @Nullable BlockExtentsTask tryAllocateExtents(long offsetBytes, long lengthBytes);

    @Override
    BlockContext setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    BlockContext setDataPathLocation(DataPathLocation location);

    @Override
    BlockContext setUserData(long userData);

    @Override
    BlockContext setUserObject(@Nullable Object userObject);
}
