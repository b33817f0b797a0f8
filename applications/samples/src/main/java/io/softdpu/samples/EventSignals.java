package io.softdpu.samples;

import io.softdpu.core.execution.Deadline;
import io.softdpu.core.sync.SyncEvent;

/**
 * Signals by one handle of a sync event, which is started in the mode that the user has chosen and
 * stopped by {@link #close}. Belongs to the thread that starts it.
 */
interface EventSignals extends AutoCloseable {
    /** Starts the handle, in synchronous or in asynchronous mode. */
    static EventSignals start(SyncEvent event, SyncEventSettings settings, Deadline deadline) {
        return settings.isAsynchronous()
                ? new JobSignals(event, settings, deadline)
                : new DirectSignals(event, settings.isAtomic(), deadline);
    }

    /**
     * Signals: sets the value, or adds 1 to it.
     *
     * @param value to set; with an addition the value before is one less
     * @return the value of the event after that
     */
    long signal(long value);

    /**
     * Waits for the signal of the other side.
     *
     * @return the value that is greater than the threshold
     * @throws io.softdpu.core.DpuException TIME_OUT; on the DPU CONNECTION_RESET if the process of
     *     the host was killed
     */
    long awaitGreater(long threshold);

    /** Stops the handle, which can only be closed then. */
    @Override
    void close();
}
