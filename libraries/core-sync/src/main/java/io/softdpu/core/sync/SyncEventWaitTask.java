package io.softdpu.core.sync;

import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Wait task: completes when the masked value of a sync event meets a condition, compared unsigned
 * with a threshold (Core guide, section 3.4.6). Submitting does not block, and an engine or queue
 * that sleeps is woken by the update.
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, which also stops the
 * context, and with SHUTDOWN if the context stops. Thread: that of the engine.
 */
public sealed interface SyncEventWaitTask extends Task permits WaitTask {
    /**
     * Sets the value to compare with; any value, while cards accept 0 to 254.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the task is in flight, BAD_STATE if it was
     *     freed
     */
    SyncEventWaitTask setThreshold(long threshold);

    /** The value to compare with. */
    long threshold();

    /**
     * Sets the mask that is applied to the value of the event before it is compared.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws io.softdpu.core.DpuException INVALID_VALUE for another mask; IN_USE if the task is in
     *     flight, BAD_STATE if it was freed
     */
    SyncEventWaitTask setMask(long mask);

    /** The mask. */
    long mask();

    /** The value of the event, without the mask, that has ended the last wait; 0 before. */
    long value();

    @Override
    SyncEventWaitTask setUserData(long userData);

    @Override
    SyncEventWaitTask setUserObject(@Nullable Object userObject);
}
