package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Write-zeroes task: fills blocks with zeros, without memory for them. Its range may be as long as
 * the device.
 *
 * <p>{@link #trySubmit()} refuses a task as a {@link BlockDiscardTask} is refused; and with
 * IO_FAILED if it has FUA and a flush, or a write with FUA, has failed before. It fails as a {@link
 * BlockWriteTask} does. Thread: that of the engine.
 */
public sealed interface BlockWriteZeroesTask extends Task permits WriteZeroesTask {
    /**
     * Sets the range of the device.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockWriteZeroesTask setRange(long offsetBytes, long lengthBytes);

    /**
     * Sets whether the zeros are durable when the task completes; false at first.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no FUA; IN_USE if the task is in flight,
     *     BAD_STATE if it was freed
     */
    BlockWriteZeroesTask setFua(boolean fua);

    /**
     * Sets whether the blocks stay allocated, so that a later write finds space; false at first.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockWriteZeroesTask setKeepAllocated(boolean keepAllocated);

    /** The offset in the device in bytes. */
    long offsetBytes();

    /** The number of bytes. */
    long lengthBytes();

    /** Whether the zeros are durable when the task completes. */
    boolean isFua();

    /** Whether the blocks stay allocated. */
    boolean isKeepAllocated();

    @Override
    BlockWriteZeroesTask setUserData(long userData);

    @Override
    BlockWriteZeroesTask setUserObject(@Nullable Object userObject);
}
