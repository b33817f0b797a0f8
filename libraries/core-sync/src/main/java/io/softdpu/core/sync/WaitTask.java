package io.softdpu.core.sync;

import io.softdpu.core.Status;

/** Implementation of {@link SyncEventWaitTask}. */
final class WaitTask extends EventTask<SyncEventWaitTask>
        implements SyncEventWaitTask, PendingWait {
    private final WaitCondition condition;
    private long threshold;
    private long mask = SyncEvent.ALL_BITS;
    private long value;

    WaitTask(EventContext context, WaitCondition condition) {
        super(context);
        this.condition = condition;
    }

    @Override
    public SyncEventWaitTask setThreshold(long threshold) {
        requireUser();
        this.threshold = threshold;
        return this;
    }

    @Override
    public long threshold() {
        return threshold;
    }

    @Override
    public SyncEventWaitTask setMask(long mask) {
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
        return value;
    }

    /** Never called: a wait task waits beside the operations. */
    @Override
    void execute(CounterAccess counter) {
        throw new IllegalStateException("wait task among the operations: context=" + context);
    }

    @Override
    public boolean isMet(long present) {
        return condition.isMet(present, threshold, mask);
    }

    @Override
    public void met(long present) {
        value = present;
        end(Status.SUCCESS);
    }

    @Override
    public void failed(Status how) {
        end(how);
    }

    @Override
    protected void onCompleted() {
        context.waitTasks(condition).callbackFor(this).completed(this);
    }

    @Override
    protected void onFree() {
        threshold = 0;
        mask = SyncEvent.ALL_BITS;
        value = 0;
    }
}
