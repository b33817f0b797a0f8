package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Discard task: deallocates blocks. Their bytes are unspecified until the next write: the old ones,
 * or zeros. Its range may be as long as the device.
 *
 * <p>{@link #trySubmit()} refuses a task with INVALID_VALUE if offset and length are not multiples
 * of the block size, the length is not positive, or the range is not within the device. It fails as
 * a {@link BlockWriteTask} does. Thread: that of the engine.
 */
public sealed interface BlockDiscardTask extends Task permits DiscardTask {
    /**
     * Sets the range of the device.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockDiscardTask setRange(long offsetBytes, long lengthBytes);

    /** The offset in the device in bytes. */
    long offsetBytes();

    /** The number of bytes. */
    long lengthBytes();

    @Override
    BlockDiscardTask setUserData(long userData);

    @Override
    BlockDiscardTask setUserObject(@Nullable Object userObject);
}
