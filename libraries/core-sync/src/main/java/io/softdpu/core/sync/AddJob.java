package io.softdpu.core.sync;

/** Implementation of {@link SyncEventAddJob}. */
final class AddJob extends EventJob<SyncEventAddJob> implements SyncEventAddJob {
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
}
