package io.softdpu.compute;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import org.jspecify.annotations.Nullable;

/**
 * Task of an operation: its source and destination.
 *
 * @param <T> the public type, which setters return
 */
abstract class OperationTask<T extends Task> extends TaskBase<T> {
    private @Nullable Buf source;
    private @Nullable Buf destination;

    OperationTask(OperationContext<?> context) {
        super(context);
    }

    /** The source. */
    public final Buf source() {
        return requireSet(source, "source");
    }

    /** The destination. */
    public final Buf destination() {
        return requireSet(destination, "destination");
    }

    /** Sets the source. */
    public final T setSource(Buf source) {
        requireUser();
        this.source = Arguments.notNull(source, "source");
        return self();
    }

    /** Sets the destination. */
    public T setDestination(Buf destination) {
        requireUser();
        this.destination = Arguments.notNull(destination, "destination");
        return self();
    }

    @Override
    protected void onFree() {
        source = null;
        destination = null;
    }
}
