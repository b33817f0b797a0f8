package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;

/**
 * Copies the data of the source behind the data of the destination (Core guide, section 3.4, DMA
 * memcpy). Both are bufs or lists of bufs, in local memory or imported over PCIe. The datarooms of
 * the source are read in order, the tailrooms of the destination filled in order; with success the
 * data lengths of the destination have grown by what was copied.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: INVALID_VALUE if the source has
 * no data or more than {@link DmaCapabilities#maxBufferBytes()}, the destination has less room than
 * that, or a list has more than {@link DmaCapabilities#maxBufferListLength()}; NOT_PERMITTED if the
 * destination's memory may not be written, the device was not added to an mmap, an mmap was
 * imported from RDMA, or a buf is in a list behind its head; NOT_SUPPORTED for an import without a
 * mapping; IN_USE if a buf is in flight, or source and destination are the same; BAD_STATE if a buf
 * was released or its mmap stopped; SHUTDOWN or CONNECTION_RESET if an exporter has withdrawn its
 * memory or ended.
 *
 * <p>It fails with BAD_STATE, SHUTDOWN or CONNECTION_RESET if the same comes to be after that, in
 * the middle of a copy, too; with IO_FAILED if the program itself has freed the memory under it;
 * and with SHUTDOWN if the context stops. Each but the last stops the context, as it does on a
 * card. Data lengths are as before then; of the bytes, part may have been written.
 *
 * <p>A copy is not atomic, its bytes are stored in an unspecified order, and there is no order
 * among copies. Where source and destination overlap, nothing is promised of the bytes in the
 * destination. Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface DmaMemcpyTask extends Task permits MemcpyTask {
    /**
     * Chooses what is read.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    DmaMemcpyTask setSource(Buf source);

    /**
     * Chooses what is written.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    DmaMemcpyTask setDestination(Buf destination);

    /**
     * What is read.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf source();

    /**
     * What is written.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    Buf destination();
}
