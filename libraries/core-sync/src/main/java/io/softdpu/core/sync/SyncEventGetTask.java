package io.softdpu.core.sync;

import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Get task: reads the value of a sync event (Core guide, section 3.4.6).
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, which also stops the
 * context, and with SHUTDOWN if the context stops. Thread: that of the engine.
 */
public sealed interface SyncEventGetTask extends Task permits GetTask {
    /** The value that was read by the last successful execution; 0 before. */
    long value();

    @Override
    SyncEventGetTask setUserData(long userData);

    @Override
    SyncEventGetTask setUserObject(@Nullable Object userObject);
}
