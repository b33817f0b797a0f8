package io.softdpu.core.sync;

import io.softdpu.core.execution.Job;
import org.jspecify.annotations.Nullable;

/**
 * Wait job, the older form of a {@link SyncEventWaitTask}, for a work queue: completes when the
 * masked value of a sync event is greater than a threshold, both unsigned (Core guide, section
 * 3.4.6). Submitting does not block, and an engine or queue that sleeps is woken by the update.
 *
 * <p>It fails with SHUTDOWN or CONNECTION_RESET if the CPU handle has ended, alone.
 *
 * <p>It cannot be cancelled, and while it is in flight its context cannot be removed from the queue
 * (NOT_PERMITTED) nor the queue be closed (IN_USE). A program that gives up a wait ends it by an
 * update, through any handle, or by a set job if its queue has a place left; retrieves it; closes
 * the queue; then stops the context. Where the value must not be changed, a {@link
 * SyncEventWaitTask} is better, which the stop of its context ends with SHUTDOWN, or get jobs whose
 * value the program compares. Thread: one at a time; while it is in flight, that of the queue.
 */
public sealed interface SyncEventWaitJob extends Job permits WaitJob {
    /**
     * Sets the value to compare with; any value, while cards accept 0 to 254.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    SyncEventWaitJob setThreshold(long threshold);

    /** The value to compare with. */
    long threshold();

    /**
     * Sets the mask that is applied to the value of the event before it is compared.
     *
     * @param mask 0, or 1, 2, 4 or 8 bytes of ones, the other bytes 0
     * @throws io.softdpu.core.DpuException INVALID_VALUE for another mask; IN_USE if the job is in
     *     flight
     */
    SyncEventWaitJob setMask(long mask);

    /** The mask. */
    long mask();

    /** The value of the event, without the mask, that has ended the last wait; 0 before. */
    long value();

    @Override
    SyncEventWaitJob setUserData(long userData);

    @Override
    SyncEventWaitJob setUserObject(@Nullable Object userObject);
}
