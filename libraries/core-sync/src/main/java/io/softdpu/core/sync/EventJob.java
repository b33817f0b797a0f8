package io.softdpu.core.sync;

import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.spi.JobBase;

/**
 * Base class of the jobs of a sync event.
 *
 * @param <T> the public type, which setters return
 */
abstract class EventJob<T extends Job> extends JobBase<T> {
    /** The outcome as a number. */
    long outcome;

    EventJob(EventContext context, JobType type) {
        super(context, type);
    }

    @Override
    public final long result() {
        return outcome;
    }

    /** Executes an operation that does not wait. */
    abstract void execute(CounterAccess counter);
}
