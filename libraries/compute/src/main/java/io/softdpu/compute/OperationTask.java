package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/** Task of an operation: its source and destination. */
abstract class OperationTask extends TaskBase {
    private final OperationContext context;
    private @Nullable Buf source;
    private @Nullable Buf destination;

    OperationTask(OperationContext context) {
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

    final void putSource(Buf newSource) {
        requireUser();
        source = Arguments.notNull(newSource, "source");
    }

    final void putDestination(Buf newDestination) {
        requireUser();
        destination = Arguments.notNull(newDestination, "destination");
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
