package io.softdpu.core.sync;

/** Implementation of {@link SyncEventGetJob}. */
final class GetJob extends EventJob<SyncEventGetJob> implements SyncEventGetJob {

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
}
