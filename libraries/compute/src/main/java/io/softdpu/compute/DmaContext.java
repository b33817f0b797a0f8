package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.JobQueue;
import io.softdpu.core.spi.TaskType;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link Dma}: its tasks, and the copies in flight on its engine. */
final class DmaContext extends ContextBase implements Dma {
    /** Limit of work queues of a context. */
    private static final int MAX_WORK_QUEUES = 1024;

    private final DmaCapabilities capabilities;
    private final TaskType<MemcpyTask, DmaTaskCallback<DmaMemcpyTask>> tasks;
    private @Nullable CopyQueue queue;

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
        requireConfigurable();
        tasks.configure(count, onSuccess, onFailure);
        return this;
    }

    @Override
    public DmaCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public DmaMemcpyTask allocateMemcpy(Buf source, Buf destination) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocate");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        if (!hasEngine()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "no progress engine is connected, so the context has no tasks: context=%s, expected=ProgressEngine.connect before its start, or createMemcpyJob"
                            .formatted(this));
        }
        return tasks.allocate().setSource(source).setDestination(destination);
    }

    @Override
    public DmaMemcpyJob createMemcpyJob(Buf source, Buf destination) {
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        return new MemcpyJob(this, source, destination);
    }

    // ---- hooks of the base class ----

    @Override
    protected int maxWorkQueues() {
        return MAX_WORK_QUEUES;
    }

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
    protected ContextState onStart() {
        if (hasEngine()) {
            tasks.makePool();
            queue = new CopyQueue(tasks.count());
        }
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        CopyQueue open = queue();
        // In STOPPING nothing is copied any more: onStop, which follows, flushes.
        if (open.isEmpty() || !takesTasks()) {
            return false;
        }
        Copy failed = open.progress(copier());
        if (failed != null) {
            fail(failed);
        }
        return true;
    }

    @Override
    protected boolean onStop() {
        if (!hasEngine()) {
            return true;
        }
        queue().flush(Status.SHUTDOWN);
        if (!tasks.allFreed()) {
            return false;
        }
        tasks.dropPool();
        queue = null;
        return true;
    }

    @Override
    protected boolean onArm() {
        return !queue().isEmpty();
    }

    @Override
    protected void onDisarm() {
        // Nothing rings: the work of a copy is done by progress itself.
    }

    @Override
    protected void onDestroy() {
        // All resources are created at start and released at stop.
    }

    // ---- for tasks and jobs ----

    /** Whether the context is RUNNING on an engine, which may copy more. */
    boolean mayCopyMore() {
        return takesTasks();
    }

    void add(Copy copy) {
        queue().add(copy);
    }

    void completed(MemcpyTask task) {
        tasks.callbackFor(task).completed(task);
    }

    /** Fails the context before the callback runs, so that the callback cannot submit any more. */
    private void fail(Copy failed) {
        Status status = failed.status();
        fatal(
                new DpuException(
                        status,
                        "copy has failed: context=%s, %s".formatted(this, failed.describe()),
                        failed.cause()));
        failed.end();
        failed.owner().copied(status);
    }

    private CopyQueue queue() {
        return Objects.requireNonNull(queue, "a queue until stopped");
    }

    @Override
    public Dma setStateChangedCallback(@Nullable StateChangedCallback callback) {
        super.setStateChangedCallback(callback);
        return this;
    }

    @Override
    public Dma setDataPathLocation(DataPathLocation location) {
        super.setDataPathLocation(location);
        return this;
    }
}
