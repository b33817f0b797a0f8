package io.softdpu.core.sync;

import org.jspecify.annotations.Nullable;

/** Implementation of {@link SyncEventAddTask}. */
final class AddTask extends EventTask implements SyncEventAddTask {
    private long increment;
    private long previous;

    AddTask(EventContext context) {
        super(context);
    }

    @Override
    public SyncEventAddTask setIncrement(long increment) {
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
        return previous;
    }

    @Override
    void execute(CounterAccess counter) {
        previous = counter.add(increment);
    }

    @Override
    protected void onCompleted() {
        context.addTasks.callbackFor(this).completed(this);
    }

    @Override
    protected void onFree() {
        increment = 0;
        previous = 0;
    }

    @Override
    public SyncEventAddTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public SyncEventAddTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
