package io.softdpu.core.sync;

/** Implementation of {@link SyncEventSetJob}. */
final class SetJob extends EventJob<SyncEventSetJob> implements SyncEventSetJob {
    private long value;

    SetJob(EventContext context, long value) {
        super(context, SyncEventContext.SET_JOB);
        this.value = value;
    }

    @Override
    public SyncEventSetJob setValue(long value) {
        requireUser();
        this.value = value;
        return this;
    }

    @Override
    public long value() {
        return value;
    }

    @Override
    void execute(CounterAccess counter) {
        counter.set(value);
    }

    @Override
    protected String operands() {
        return ", value=" + Long.toUnsignedString(value);
    }
}
