package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Task of an operation: its source and destination.
 *
 * @param <T> the public type, which setters return
 */
abstract class OperationTask<T extends Task> extends TaskBase<T> {
    private final OperationContext<?> context;
    private @Nullable Buf source;
    private @Nullable Buf destination;

    OperationTask(OperationContext<?> context) {
        super(context);
        this.context = context;
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

    private <T> T requireSet(@Nullable T value, String item) {
        if (value == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format("task was freed: item=%s, context=%s", item, context));
        }
        return value;
    }
}
