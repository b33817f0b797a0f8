package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventGetTask}. */
final class GetTask extends EventTask implements SyncEventGetTask {
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

    @Override
    public SyncEventGetTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventGetTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
