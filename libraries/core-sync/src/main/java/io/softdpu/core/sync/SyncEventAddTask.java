package io.softdpu.core.sync;

import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Add task: adds to the value of a sync event atomically and wakes those who wait (Core guide,
 * section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, which also stops the
 * context, and with SHUTDOWN if the context stops. Thread: that of the engine.
 */
public sealed interface SyncEventAddTask extends Task permits AddTask {
    /**
     * Sets the number to add.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the task is in flight, BAD_STATE if it was
     *     freed
     */
    SyncEventAddTask setIncrement(long increment);

    /** The number to add. */
    long increment();

    /** The value before the last successful addition; 0 before. */
    long previous();

    @Override
    SyncEventAddTask setUserData(long userData);

    @Override
    SyncEventAddTask setUserObject(@Nullable Object userObject);
}
