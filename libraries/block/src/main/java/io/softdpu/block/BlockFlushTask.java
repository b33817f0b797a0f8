package io.softdpu.block;

import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Flush task: makes every write durable that had completed in any context of the device before it
 * was submitted. It says nothing of writes in flight.
 *
 * <p>It fails with IO_FAILED if the device has lost one of them, or may have; then {@link
 * #trySubmit()} refuses each later flush with IO_FAILED, in every context, until the device is
 * opened again. It fails with SHUTDOWN if the context stops. Thread: that of the engine.
 */
public sealed interface BlockFlushTask extends Task permits FlushTask {
    @Override
    BlockFlushTask setUserData(long userData);

    @Override
    BlockFlushTask setUserObject(@Nullable Object userObject);
}
