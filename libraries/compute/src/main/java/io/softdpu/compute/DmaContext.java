package io.softdpu.compute;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.JobQueue;
import io.softdpu.core.spi.TaskType;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link Dma}: its tasks, and the copies in flight on its engine. */
final class DmaContext extends OperationContext<Dma> implements Dma {
    private final DmaCapabilities capabilities;
    private final TaskType<MemcpyTask, DmaTaskCallback<DmaMemcpyTask>> tasks;

    DmaContext(Device device, DmaCapabilities capabilities) {
        super("dma " + device.info().ibdevName(), device);
        this.capabilities = capabilities;
        this.tasks =
                new TaskType<>(
                        "memcpy",
                        "setMemcpyTasks",
                        capabilities.maxTasks(),
                        () -> new MemcpyTask(this));
    }

    @Override
    public Dma setMemcpyTasks(
            int count,
            DmaTaskCallback<DmaMemcpyTask> onSuccess,
            DmaTaskCallback<DmaMemcpyTask> onFailure) {
        return configure(tasks, count, onSuccess, onFailure);
    }

    @Override
    public DmaCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public DmaMemcpyTask allocateMemcpy(Buf source, Buf destination) {
        return tasks.requireAllocated(tryAllocateMemcpy(source, destination));
    }

    @Override
    public @Nullable DmaMemcpyTask tryAllocateMemcpy(Buf source, Buf destination) {
        requireTasks("createMemcpyJob");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        MemcpyTask task = tasks.tryAllocate();
        return task == null ? null : task.setSource(source).setDestination(destination);
    }

    @Override
    public DmaMemcpyJob createMemcpyJob(Buf source, Buf destination) {
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        return new MemcpyJob(this, source, destination);
    }

    // ---- hooks of the base classes ----

    @Override
    protected JobQueue newJobQueue(int depth) {
        return new DmaJobQueue(this, depth);
    }

    @Override
    protected void checkConfiguration() {
        if (hasEngine()) {
            tasks.requireConfigured(this);
        }
    }

    @Override
    OperationQueue makePools() {
        tasks.makePool();
        return new OperationQueue(tasks.count(), Copier.SLICE_BYTES);
    }

    @Override
    boolean allFreed() {
        return tasks.allFreed();
    }

    @Override
    void dropPools() {
        tasks.dropPool();
    }

    // ---- for tasks ----

    void completed(MemcpyTask task) {
        tasks.callbackFor(task).completed(task);
    }
}
