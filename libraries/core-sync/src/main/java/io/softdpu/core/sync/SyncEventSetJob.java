package io.softdpu.core.sync;

import io.softdpu.core.execution.Job;
import org.jspecify.annotations.Nullable;

/**
 * Set job, the older form of a {@link SyncEventSetTask}, for a work queue: sets the value of a sync
 * event and wakes those who wait (Core guide, section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, alone, and with
 * SHUTDOWN if the context stops. Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface SyncEventSetJob extends Job permits SetJob {
    /**
     * Sets the new value of the event.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    SyncEventSetJob setValue(long value);

    /** The new value of the event. */
    long value();

    @Override
    SyncEventSetJob setUserData(long userData);

    @Override
    SyncEventSetJob setUserObject(@Nullable Object userObject);
}
