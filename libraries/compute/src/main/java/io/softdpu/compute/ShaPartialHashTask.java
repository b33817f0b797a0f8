package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Partial hash task: hashes data that is not there all at once, or larger than a source may be. It
 * is submitted once per part, with a new source each, and appends the digest of all parts to the
 * destination when the last has ended:
 *
 * <pre>{@code
 * task = sha.allocatePartialHash(ShaAlgorithm.SHA256, first, digest);
 * task.submit();                            // and in the callback of each part:
 * task.setSource(next).setFinal(isLast).submit();
 * }</pre>
 *
 * <p>The data of each part but the last is a multiple of {@link
 * ShaCapabilities#partialHashBlockBytes}. Algorithm and destination are those of the first part
 * until the last has succeeded or the task is {@linkplain #reset() reset}. In between the
 * destination belongs to the program, but the content of its tailroom is unspecified.
 *
 * <p>{@link #trySubmit()} refuses a part, which stays with the user and changes nothing, for the
 * reasons of a {@link ShaHashTask}, and with INVALID_VALUE if its data is no multiple of the block
 * and it is not the last, or if it is the first and marked as the last, as it is after a hash until
 * the task is reset. It fails as a {@link ShaHashTask} does. Thread: that of the engine.
 */
public sealed interface ShaPartialHashTask extends Task permits PartialHashTask {
    /**
     * Sets the algorithm.
     *
     * @throws DpuException BAD_STATE if a hash is in progress, or the task was freed; IN_USE if it
     *     is in flight
     */
    ShaPartialHashTask setAlgorithm(ShaAlgorithm algorithm);

    /**
     * Sets the source of the next part.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    ShaPartialHashTask setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws DpuException BAD_STATE if a hash is in progress, or the task was freed; IN_USE if it
     *     is in flight
     */
    ShaPartialHashTask setDestination(Buf destination);

    /**
     * Sets whether the next part is the last.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    ShaPartialHashTask setFinal(boolean isFinal);

    /**
     * Drops the hash in progress, if any, and the mark of the last part; the next part begins
     * another hash.
     *
     * @throws DpuException IN_USE if the task is in flight, BAD_STATE if it was freed
     */
    void reset();

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

    /** Whether the part is, or was, marked as the last. */
    boolean isFinal();

    /** Whether the last submission has succeeded and was of a last part: the digest is there. */
    boolean hasResult();

    @Override
    ShaPartialHashTask setUserData(long userData);

    @Override
    ShaPartialHashTask setUserObject(@Nullable Object userObject);
}
