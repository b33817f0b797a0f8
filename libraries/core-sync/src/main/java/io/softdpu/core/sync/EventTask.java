package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.TaskBase;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the tasks of a sync event.
 *
 * @param <T> the public type, which setters return
 */
abstract class EventTask<T extends Task> extends TaskBase<T> {
    final EventContext context;

    EventTask(EventContext context) {
        super(context);
        this.context = context;
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        return context.submit(this);
    }

    /** Executes an operation that does not wait; in progress. */
    abstract void execute(CounterAccess counter);

    /** Completes the task; in progress. */
    final void end(Status how) {
        complete(how);
    }
}
