package io.softdpu.core.sync;

/** Implementation of {@link SyncEventGetTask}. */
final class GetTask extends EventTask<SyncEventGetTask> implements SyncEventGetTask {
    private long value;

    GetTask(EventContext context) {
        super(context);
    }

    @Override
    public long value() {
        return value;
    }

    @Override
    void execute(CounterAccess counter) {
        value = counter.get();
    }

    @Override
    protected void onCompleted() {
        context.getTasks.callbackFor(this).completed(this);
    }

    @Override
    protected void onFree() {
        value = 0;
    }
}
