package io.softdpu.samples;

import io.softdpu.core.execution.Deadline;
import io.softdpu.core.sync.SyncEvent;

/** Signals in synchronous mode: each call returns when it is done, and a wait spins. */
final class DirectSignals implements EventSignals {
    private static final System.Logger LOG = System.getLogger(DirectSignals.class.getName());

    private final SyncEvent event;
    private final boolean atomic;
    private final Deadline deadline;

    DirectSignals(SyncEvent event, boolean atomic, Deadline deadline) {
        this.event = event;
        this.atomic = atomic;
        this.deadline = deadline;
        event.start();
        LOG.log(System.Logger.Level.DEBUG, "event started: mode=synchronous, atomic=" + atomic);
    }

    @Override
    public long signal(long value) {
        if (atomic) {
            return event.add(1) + 1;
        }
        event.set(value);
        return value;
    }

    @Override
    public long awaitGreater(long threshold) {
        event.waitGreater(threshold, SyncEvent.ALL_BITS, deadline.remaining());
        return event.get();
    }

    @Override
    public void close() {
        event.stop();
    }
}
