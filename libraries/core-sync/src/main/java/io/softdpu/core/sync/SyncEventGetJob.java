package io.softdpu.core.sync;

import io.softdpu.core.execution.Job;
import org.jspecify.annotations.Nullable;

/**
 * Get job, the older form of a {@link SyncEventGetTask}, for a work queue: reads the value of a
 * sync event (Core guide, section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, alone, and with
 * SHUTDOWN if the context stops. Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface SyncEventGetJob extends Job permits GetJob {
    /** The value that was read by the last successful execution; 0 before. */
    long value();

    @Override
    SyncEventGetJob setUserData(long userData);

    @Override
    SyncEventGetJob setUserObject(@Nullable Object userObject);
}
