package io.softdpu.block;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Read task: reads blocks into the tailroom of a buf, whose data length has grown by the length
 * after success. After a failure it has not, and the bytes behind the data are unspecified.
 *
 * <p>{@link #trySubmit()} refuses a task, which stays with the user, with TOO_BIG if it is longer
 * than the largest request; INVALID_VALUE if offset and length are not multiples of the block size,
 * the length is not positive, the range is not within the device, the buf has less tailroom, or its
 * memory is not aligned as the device requires; NOT_PERMITTED if the buf's memory may not be
 * written, the device was not added to its mmap, it was imported from RDMA, or the buf is in a list
 * behind its head; INVALID_VALUE also for a list of several bufs; NOT_SUPPORTED for an import
 * without a mapping, and for memory that the block device cannot reach or that may be closed under
 * it, as that of an arena under the kernel; IN_USE if the buf is in flight; BAD_STATE if it was
 * released or its mmap stopped; SHUTDOWN or CONNECTION_RESET if an exporter has revoked its memory
 * or ended; AGAIN if a queue of the system is full.
 *
 * <p>It fails with IO_FAILED if the blocks cannot be read, or the program closes the memory
 * meanwhile; as above if one of these conditions arises later; and with SHUTDOWN if the context
 * stops. Thread: that of the engine. From submit to callback the buf must not be used.
 */
public sealed interface BlockReadTask extends Task permits ReadTask {
    /**
     * Sets the range of the device.
     *
     * @param offsetBytes offset in the device
     * @param lengthBytes number of bytes to read
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockReadTask setRange(long offsetBytes, long lengthBytes);

    /**
     * Sets the destination.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    BlockReadTask setDestination(Buf destination);

    /** The offset in the device in bytes. */
    long offsetBytes();

    /** The number of bytes to read. */
    long lengthBytes();

    /**
     * The destination.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    @Override
    BlockReadTask setUserData(long userData);

    @Override
    BlockReadTask setUserObject(@Nullable Object userObject);
}
