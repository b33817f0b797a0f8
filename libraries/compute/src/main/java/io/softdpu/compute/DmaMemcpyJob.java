package io.softdpu.compute;

import io.softdpu.core.execution.Job;
import io.softdpu.core.memory.Buf;

/**
 * The older form of a {@link DmaMemcpyTask}, for a work queue (Core guide, section 3.4): copies the
 * data of the source behind the data of the destination.
 *
 * <p>It is refused at submission with the statuses of the task. If it fails after that, it is
 * retrieved with IO_FAILED, and the event says exactly how: with those of the task, too. The
 * context and the other jobs go on.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface DmaMemcpyJob extends Job permits MemcpyJob {
    /**
     * Chooses what is read.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    DmaMemcpyJob setSource(Buf source);

    /**
     * Chooses what is written.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    DmaMemcpyJob setDestination(Buf destination);

    /** What is read. */
    Buf source();

    /** What is written. */
    Buf destination();
}
