package io.softdpu.core.sync;

/** Implementation of {@link SyncEventAddTask}. */
final class AddTask extends EventTask<SyncEventAddTask> implements SyncEventAddTask {
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
}
