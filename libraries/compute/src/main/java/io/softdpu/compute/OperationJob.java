package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.JobBase;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Job of an operation: its source and destination, and the queue that it was submitted to.
 *
 * @param <T> the public type, which setters return
 */
abstract class OperationJob<T extends Job> extends JobBase<T> {
    private Buf source;
    private Buf destination;
    private @Nullable OperationJobQueue queue;

    OperationJob(OperationContext<?> context, JobType type, Buf source, Buf destination) {
        super(context, type);
        this.source = source;
        this.destination = destination;
    }

    /**
     * Checks the operands and marks them; the queue adds the operation then.
     *
     * @return null, or the reason of a refusal: nothing is marked then
     */
    abstract @Nullable Refusal begin(OperationJobQueue submittedTo);

    abstract BufOperation operation();

    /** The source. */
    public final Buf source() {
        return source;
    }

    /** The destination. */
    public final Buf destination() {
        return destination;
    }

    /** Sets the source. */
    public final T setSource(Buf source) {
        requireUser();
        this.source = Arguments.notNull(source, "source");
        return self();
    }

    /** Sets the destination. */
    public final T setDestination(Buf destination) {
        requireUser();
        this.destination = Arguments.notNull(destination, "destination");
        return self();
    }

    /** Begins on a queue. */
    final @Nullable Refusal beginOn(OperationJobQueue submittedTo) {
        queue = submittedTo;
        return begin(submittedTo);
    }

    /** Completes the job; whether the context still runs. */
    final boolean completed(Status ended) {
        return Objects.requireNonNull(queue, "the queue that it was submitted to")
                .ended(this, ended);
    }

    @Override
    protected String operands() {
        return Text.format(", source=%s, destination=%s", source, destination);
    }
}
