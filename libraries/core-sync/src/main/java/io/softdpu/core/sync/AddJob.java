package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventAddJob}. */
final class AddJob extends EventJob implements SyncEventAddJob {
    private long increment;

    AddJob(EventContext context, long increment) {
        super(context, SyncEventContext.ADD_JOB);
        this.increment = increment;
    }

    @Override
    public SyncEventAddJob setIncrement(long increment) {
        requireUser();
        this.increment = increment;
        return this;
    }

    @Override
    public long increment() {
        return increment;
    }

    @Override
    public long previous() {
        return outcome;
    }

    @Override
    void execute(CounterAccess counter) {
        outcome = counter.add(increment);
    }

    @Override
    protected String operands() {
        return ", increment=" + Long.toUnsignedString(increment);
    }

    @Override
    public SyncEventAddJob setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventAddJob setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
