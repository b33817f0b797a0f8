package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventSetJob}. */
final class SetJob extends EventJob implements SyncEventSetJob {
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

    @Override
    public SyncEventSetJob setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventSetJob setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
