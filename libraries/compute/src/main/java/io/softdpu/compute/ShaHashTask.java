package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Hash task: appends the digest of the source's data to the data of the destination (Core guide,
 * section 3.4, SHA). Both are bufs or lists of bufs, in local memory or imported over PCIe. The
 * datarooms of the source are read in order, the tailrooms of the destination filled in order;
 * after success the data lengths of the destination have grown by {@link
 * ShaAlgorithm#digestBytes()}.
 *
 * <p>{@link #trySubmit()} refuses a task, which stays with the user, with INVALID_VALUE if the
 * source has no data or more than {@link ShaCapabilities#maxSourceBufferBytes()}, the destination
 * has less tailroom than the digest needs, or a list has more than {@link
 * ShaCapabilities#maxBufferListLength()}; otherwise with the statuses of a {@link DmaMemcpyTask}.
 *
 * <p>It fails as that does: when memory is revoked, stopped or closed after the submission, and
 * with SHUTDOWN if the context stops. All but the last stop the context. Data lengths do not change
 * then.
 *
 * <p>Each byte of the source is read once, at some time between submission and callback. Thread:
 * that of the engine. From submit to callback the bufs must not be used.
 */
public sealed interface ShaHashTask extends Task permits HashTask {
    /**
     * Sets the algorithm.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    ShaHashTask setAlgorithm(ShaAlgorithm algorithm);

    /**
     * Sets the source.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    ShaHashTask setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    ShaHashTask setDestination(Buf destination);

    /** The algorithm. */
    ShaAlgorithm algorithm();

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
    ShaHashTask setUserData(long userData);

    @Override
    ShaHashTask setUserObject(@Nullable Object userObject);
}
