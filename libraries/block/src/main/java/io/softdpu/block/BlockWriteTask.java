package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Write task: writes the data of a buf to blocks. With FUA (force unit access) it is durable when
 * it completes, as after a flush.
 *
 * <p>{@link #trySubmit()} refuses a task as a {@link BlockReadTask} is refused, where the data of
 * the buf takes the place of the tailroom and its length that of the task; and with IO_FAILED if it
 * has FUA and a flush, or a write with FUA, has failed before.
 *
 * <p>It fails with FULL if there is no space for the blocks; NOT_PERMITTED if they may not be
 * written; IO_FAILED for any other reason of the device; else as a {@link BlockReadTask}. Each of
 * its blocks is old or new then. Thread: that of the engine. From submit to callback the buf must
 * not be used.
 */
public sealed interface BlockWriteTask extends Task permits WriteTask {
    /**
     * Sets where the data is written.
     *
     * @param offsetBytes offset in the device
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockWriteTask setOffset(long offsetBytes);

    /**
     * Sets the source.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockWriteTask setSource(Buf source);

    /**
     * Sets whether the data is durable when the task completes; false at first.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no FUA; IN_USE if the task is in flight,
     *     BAD_STATE if it was freed
     */
    BlockWriteTask setFua(boolean fua);

    /** The offset in the device in bytes. */
    long offsetBytes();

    /**
     * The source.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /** Whether the data is durable when the task completes. */
    boolean isFua();

    @Override
    BlockWriteTask setUserData(long userData);

    @Override
    BlockWriteTask setUserObject(@Nullable Object userObject);
}
