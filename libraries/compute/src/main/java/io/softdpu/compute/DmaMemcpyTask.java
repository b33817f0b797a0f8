package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Memcpy task: appends the data of the source to the data of the destination (Core guide, section
 * 3.4, DMA memcpy). Both are bufs or lists of bufs, in local memory or imported over PCIe. The
 * datarooms of the source are read in order, the tailrooms of the destination filled in order;
 * after success the data lengths of the destination have grown by the bytes copied.
 *
 * <p>{@link #trySubmit()} refuses a task, which stays with the user, with INVALID_VALUE if the
 * source has no data or more than {@link DmaCapabilities#maxBufferBytes()}, the destination has
 * less tailroom than that, or a list has more than {@link DmaCapabilities#maxBufferListLength()};
 * NOT_PERMITTED if the destination's memory may not be written, the device was not added to an
 * mmap, an mmap was imported from RDMA, or a buf is in a list behind its head; NOT_SUPPORTED for an
 * import without a mapping; IN_USE if a buf is in flight, or source and destination are the same;
 * BAD_STATE if a buf was released or its mmap stopped; SHUTDOWN or CONNECTION_RESET if an exporter
 * has revoked its memory or ended.
 *
 * <p>It fails with BAD_STATE, SHUTDOWN or CONNECTION_RESET if one of these conditions arises later,
 * also in the middle of a copy, BAD_STATE also for memory that the program has closed before a
 * piece; with IO_FAILED if it closes the memory, or truncates its file, while a piece is copied;
 * and with SHUTDOWN if the context stops. All but the last stop the context, as on a card. Data
 * lengths do not change then; part of the bytes may have been written.
 *
 * <p>A copy is not atomic, its bytes are stored in an unspecified order, and copies are not ordered
 * among each other. If source and destination overlap, the bytes in the destination are
 * unspecified. Thread: that of the engine. From submit to callback the bufs must not be used.
 */
public sealed interface DmaMemcpyTask extends Task permits MemcpyTask {
    /**
     * Sets the source.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    DmaMemcpyTask setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    DmaMemcpyTask setDestination(Buf destination);

    /**
     * The source.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /**
     * The destination.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();

    @Override
    DmaMemcpyTask setUserData(long userData);

    @Override
    DmaMemcpyTask setUserObject(@Nullable Object userObject);
}
