package io.softdpu.compute;

import io.softdpu.core.execution.Job;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Partial hash job, the older form of a {@link ShaPartialHashTask}, for a work queue: hashes a part
 * of the data of its {@linkplain ShaSession session}. Several jobs may share the session, one of
 * them in flight at a time; the last part is marked by {@link #setFinal}.
 *
 * <p>It is refused at submission with the statuses of the task; with IN_USE also if another part of
 * the session is in flight; and with INVALID_VALUE also if the destination or the work queue
 * differs from that of the first part, or a part has failed and the session was not reset. If it
 * fails later, it is retrieved with IO_FAILED, and the event has the status of the failure. The
 * context and the other sessions continue.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface ShaPartialHashJob extends Job permits PartialHashJob {
    /**
     * Sets the source.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    ShaPartialHashJob setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    ShaPartialHashJob setDestination(Buf destination);

    /**
     * Sets whether it is the last part of its hash.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    ShaPartialHashJob setFinal(boolean isFinal);

    /** The session, with the algorithm. */
    ShaSession session();

    /** The source. */
    Buf source();

    /** The destination. */
    Buf destination();

    /** Whether it is the last part of its hash. */
    boolean isFinal();

    @Override
    ShaPartialHashJob setUserData(long userData);

    @Override
    ShaPartialHashJob setUserObject(@Nullable Object userObject);
}
