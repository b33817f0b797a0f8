package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Extents task: tells which blocks of a range are data and which are holes, that is not allocated
 * and read as zeros. What it calls a hole is one, or was written while the task was in flight; what
 * it calls data may be anything, zeros too.
 *
 * <p>The extents are adjacent, the first is at the offset of the range, and there is one at least.
 * They may end before the range does, since there are {@link #MAX_EXTENTS} at most: a further task
 * asks from there on.
 *
 * <p>{@link #trySubmit()} refuses a task as a {@link BlockDiscardTask} is refused. It fails with
 * IO_FAILED, and with SHUTDOWN if the context stops; there are no extents then. Thread: that of the
 * engine.
 */
public sealed interface BlockExtentsTask extends Task permits ExtentsTask {
    /** Limit of extents of one task. */
    int MAX_EXTENTS = 64;

    /**
     * Sets the range of the device.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockExtentsTask setRange(long offsetBytes, long lengthBytes);

    /** The offset in the device in bytes. */
    long offsetBytes();

    /** The number of bytes. */
    long lengthBytes();

    /** Number of extents that the task has found; 0 while it is in flight, and before. */
    int extentCount();

    /**
     * Length of an extent in bytes.
     *
     * @param index from 0 to below {@link #extentCount()}
     * @throws DpuException INVALID_VALUE for another index; IN_USE if the task is in flight,
     *     BAD_STATE if it was freed
     */
    long extentLengthBytes(int index);

    /**
     * Whether an extent is a hole.
     *
     * @param index from 0 to below {@link #extentCount()}
     * @throws DpuException INVALID_VALUE for another index; IN_USE if the task is in flight,
     *     BAD_STATE if it was freed
     */
    boolean isHole(int index);

    @Override
    BlockExtentsTask setUserData(long userData);

    @Override
    BlockExtentsTask setUserObject(@Nullable Object userObject);
}
