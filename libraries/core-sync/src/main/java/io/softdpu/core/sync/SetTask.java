package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventSetTask}. */
final class SetTask extends EventTask implements SyncEventSetTask {
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

    @Override
    public SyncEventSetTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventSetTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
