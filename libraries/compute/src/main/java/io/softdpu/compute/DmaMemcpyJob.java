package io.softdpu.compute;

import io.softdpu.core.execution.Job;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Memcpy job, the older form of a {@link DmaMemcpyTask}, for a work queue (Core guide, section
 * 3.4): appends the data of the source to the data of the destination.
 *
 * <p>It is refused at submission with the statuses of the task. If it fails later, it is retrieved
 * with IO_FAILED, and the event has the status of the failure, as for the task. The context and the
 * other jobs continue.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface DmaMemcpyJob extends Job permits MemcpyJob {
    /**
     * Sets the source.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    DmaMemcpyJob setSource(Buf source);

    /**
     * Sets the destination.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    DmaMemcpyJob setDestination(Buf destination);

    /** The source. */
    Buf source();

    /** The destination. */
    Buf destination();

    @Override
    DmaMemcpyJob setUserData(long userData);

    @Override
    DmaMemcpyJob setUserObject(@Nullable Object userObject);
}
