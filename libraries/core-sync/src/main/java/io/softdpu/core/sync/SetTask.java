package io.softdpu.core.sync;

/** Implementation of {@link SyncEventSetTask}. */
final class SetTask extends EventTask<SyncEventSetTask> implements SyncEventSetTask {
    private long value;

    SetTask(EventContext context) {
        super(context);
    }

    @Override
    public SyncEventSetTask setValue(long value) {
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
    protected void onCompleted() {
        context.setTasks.callbackFor(this).completed(this);
    }

    @Override
    protected void onFree() {
        value = 0;
    }
}
