package io.softdpu.compute;

import io.softdpu.core.execution.Job;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Hash job, the older form of a {@link ShaHashTask}, for a work queue (Core guide, section 3.4):
 * appends the digest of the source's data to the data of the destination.
 *
 * <p>It is refused at submission with the statuses of the task. If it fails later, it is retrieved
 * with IO_FAILED, and the event has the status of the failure, as for the task. The context and the
 * other jobs continue.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface ShaHashJob extends Job permits HashJob {
    /**
     * Sets the algorithm. Allocates a state for it unless the job has had it before.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight; NOT_SUPPORTED if the JDK
     *     does not have the algorithm
     */
    ShaHashJob setAlgorithm(ShaAlgorithm algorithm);

    /**
     * Sets the source.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    ShaHashJob setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    ShaHashJob setDestination(Buf destination);

    /** The algorithm. */
    ShaAlgorithm algorithm();

    /** The source. */
    Buf source();

    /** The destination. */
    Buf destination();

    @Override
    ShaHashJob setUserData(long userData);

    @Override
    ShaHashJob setUserObject(@Nullable Object userObject);
}
