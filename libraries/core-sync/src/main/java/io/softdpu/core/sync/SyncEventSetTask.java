package io.softdpu.core.sync;

import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Set task: sets the value of a sync event and wakes those who wait (Core guide, section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, which also stops the
 * context, and with SHUTDOWN if the context stops. Thread: that of the engine.
 */
public sealed interface SyncEventSetTask extends Task permits SetTask {
    /**
     * Sets the new value of the event.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the task is in flight, BAD_STATE if it was
     *     freed
     */
    SyncEventSetTask setValue(long value);

    /** The new value of the event. */
    long value();

    @Override
    SyncEventSetTask setUserData(long userData);

    @Override
    SyncEventSetTask setUserObject(@Nullable Object userObject);
}
