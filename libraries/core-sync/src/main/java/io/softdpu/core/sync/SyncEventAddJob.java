package io.softdpu.core.sync;

import io.softdpu.core.execution.Job;
import org.jspecify.annotations.Nullable;

/**
 * Add job, the older form of a {@link SyncEventAddTask}, for a work queue: adds to the value of a
 * sync event atomically and wakes those who wait (Core guide, section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, alone, and with
 * SHUTDOWN if the context stops. Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface SyncEventAddJob extends Job permits AddJob {
    /**
     * Sets the number to add.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    SyncEventAddJob setIncrement(long increment);

    /** The number to add. */
    long increment();

    /** The value before the last successful addition; 0 before. */
    long previous();

    @Override
    SyncEventAddJob setUserData(long userData);

    @Override
    SyncEventAddJob setUserObject(@Nullable Object userObject);
}
