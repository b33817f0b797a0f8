package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventWaitJob}. */
final class WaitJob extends EventJob<SyncEventWaitJob> implements SyncEventWaitJob, PendingWait {
    private long threshold;
    private long mask;
    private @Nullable EventJobQueue queue;

    WaitJob(EventContext context, long threshold, long mask) {
        super(context, SyncEventContext.WAIT_GREATER_JOB);
        this.threshold = threshold;
        this.mask = PendingWait.requireMask(mask);
    }

    @Override
    public SyncEventWaitJob setThreshold(long threshold) {
        requireUser();
        this.threshold = threshold;
        return this;
    }

    @Override
    public long threshold() {
        return threshold;
    }

    @Override
    public SyncEventWaitJob setMask(long mask) {
        requireUser();
        this.mask = PendingWait.requireMask(mask);
        return this;
    }

    @Override
    public long mask() {
        return mask;
    }

    @Override
    public long value() {
        return outcome;
    }

    /** Waits on a queue, to which it was submitted. */
    void begin(EventJobQueue submittedTo) {
        queue = submittedTo;
    }

    /** Never called: a wait job waits beside the operations. */
    @Override
    void execute(CounterAccess counter) {
        throw new IllegalStateException("wait job among the operations: job=" + this);
    }

    @Override
    public boolean isMet(long present) {
        return WaitCondition.GREATER.isMet(present, threshold, mask);
    }

    @Override
    public void met(long present) {
        outcome = present;
        queue().end(this, Status.SUCCESS);
    }

    @Override
    public void failed(Status how) {
        queue().end(this, how);
    }

    private EventJobQueue queue() {
        return Objects.requireNonNull(queue, "the queue that it was submitted to");
    }

    @Override
    protected String operands() {
        return Text.format(", threshold=%s, mask=%#x", Long.toUnsignedString(threshold), mask);
    }
}
