package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventGetJob}. */
final class GetJob extends EventJob implements SyncEventGetJob {

    GetJob(EventContext context) {
        super(context, SyncEventContext.GET_JOB);
    }

    @Override
    public long value() {
        return outcome;
    }

    @Override
    void execute(CounterAccess counter) {
        outcome = counter.get();
    }

    @Override
    public SyncEventGetJob setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventGetJob setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
