package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.Copier;
import io.softdpu.core.spi.JobLane;
import io.softdpu.core.spi.TaskPool;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A context that copies memory (Core guide, sections 3.4 and 3.4.2): between any two bufs or lists
 * of bufs, local, or imported over PCIe from the other side, in either direction.
 *
 * <p>The order: create, configure the tasks, connect to a progress engine, {@linkplain #start
 * start}: it is RUNNING at once. The copies are made inside progress, a slice of each at a time, so
 * that a large one does not hold up the rest of the engine. {@linkplain #stop Stopping} flushes
 * what is in flight with SHUTDOWN; the context is IDLE when all tasks have been freed.
 *
 * <p>A copy that fails after it was taken moves the context to STOPPING by itself, as it does on a
 * card: the rest is flushed, {@link #failure()} says why, and once the tasks are freed it can be
 * started again.
 *
 * <p>The older way is {@linkplain #createMemcpyJob jobs} on work queues: the context is started
 * without an engine and without tasks, and added to any number of queues on as many threads. A job
 * that fails then fails alone.
 *
 * <p>Thread: that of the engine; without one, any.
 */
@SuppressWarnings("exports") // the base is for libraries; users see a Context
public final class Dma extends ContextBase {
    /** The kind of job that copies memory. */
    public static final JobType MEMCPY_JOB = new JobType("dma memcpy");

    /** Work queues of one context; more threads than that would not share a card. */
    private static final int MAX_WORK_QUEUES = 1024;

    private final DmaCapabilities capabilities;
    private int count;
    private @Nullable DmaTaskCallback<DmaMemcpyTask> onSuccess;
    private @Nullable DmaTaskCallback<DmaMemcpyTask> onFailure;
    private @Nullable TaskPool<DmaMemcpyTask> pool;
    private @Nullable CopyQueue queue;
    private @Nullable Copier copier;

    private Dma(Device device) {
        super("dma " + device.info().ibdevName(), device);
        this.capabilities = DmaCapabilities.of(device.info());
    }

    /**
     * Makes a context on a device, which cannot be closed before it.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no DMA; BAD_STATE if it is closed
     */
    public static Dma create(Device device) {
        Arguments.notNull(device, "device");
        DmaCapabilities capabilities = DmaCapabilities.of(device.info());
        if (!capabilities.isSupported()) {
            throw new DpuException(Status.NOT_SUPPORTED, "device has no DMA: device=" + device);
        }
        return new Dma(device);
    }

    /**
     * Makes memcpy tasks available. Configuring again replaces.
     *
     * @param count how many can be allocated at a time
     * @param onSuccess is told of tasks that have copied
     * @param onFailure is told of tasks that have failed
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link DmaCapabilities#maxTasks()}
     */
    public Dma configureMemcpyTasks(
            int count,
            DmaTaskCallback<DmaMemcpyTask> onSuccess,
            DmaTaskCallback<DmaMemcpyTask> onFailure) {
        requireOwnerThread();
        requireConfigurable();
        if (count < 1 || count > capabilities.maxTasks()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of tasks out of range: count=%d, limit=%d"
                            .formatted(count, capabilities.maxTasks()));
        }
        Arguments.notNull(onSuccess, "onSuccess");
        Arguments.notNull(onFailure, "onFailure");
        this.count = count;
        this.onSuccess = onSuccess;
        this.onFailure = onFailure;
        return this;
    }

    /** What it can do, and its limits. */
    public DmaCapabilities capabilities() {
        return capabilities;
    }

    /** The two lists of a copy and their limits, for the message of a refusal. */
    String describe(@Nullable Buf source, @Nullable Buf destination) {
        int most = capabilities.maxBufferListLength();
        return BufLists.describe("source", source, most)
                + BufLists.describe("destination", destination, most)
                + ", maxBufferBytes="
                + capabilities.maxBufferBytes();
    }

    /**
     * Allocates a memcpy task.
     *
     * @param source the buf, or the head of the list, that is read
     * @param destination the buf, or the head of the list, that is written
     * @throws DpuException BAD_STATE unless RUNNING, and on a progress engine; NO_MEMORY if all are
     *     allocated; INVALID_VALUE if a buf is null; NOT_PERMITTED from another thread
     */
    public DmaMemcpyTask allocateMemcpy(Buf source, Buf destination) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocate");
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        if (pool == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "context runs without a progress engine, for jobs: context=%s, expected=a job"
                            .formatted(this));
        }
        DmaMemcpyTask task = pool.allocate();
        return task.setSource(source).setDestination(destination);
    }

    /**
     * Makes a memcpy job, for the work queues that this context is added to. Any thread.
     *
     * @param source the buf, or the head of the list, that is read
     * @param destination the buf, or the head of the list, that is written
     * @throws DpuException INVALID_VALUE if a buf is null
     */
    public DmaMemcpyJob createMemcpyJob(Buf source, Buf destination) {
        Arguments.notNull(source, "source");
        Arguments.notNull(destination, "destination");
        return new DmaMemcpyJob(this, source, destination);
    }

    // ---- what the base asks for ----

    @Override
    protected int maxWorkQueues() {
        return MAX_WORK_QUEUES;
    }

    @Override
    protected JobLane newJobLane(int depth) {
        return new DmaLane(this, depth);
    }

    @Override
    protected void checkConfiguration() {
        if (hasEngine() && count == 0) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "mandatory item is missing: item=memcpy tasks, context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        if (hasEngine()) {
            pool = new TaskPool<>(count, () -> new DmaMemcpyTask(this));
            queue = new CopyQueue(count);
            copier = payloadCopier();
        }
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        CopyQueue open = queue();
        // In STOPPING nothing is copied any more: onStop, which follows, flushes.
        if (open.isEmpty() || !isRunning()) {
            return false;
        }
        Copy failed = open.progress(Objects.requireNonNull(copier, "made with the queue"));
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
        TaskPool<DmaMemcpyTask> tasks = Objects.requireNonNull(pool, "a pool until stopped");
        if (tasks.available() < tasks.total()) {
            return false;
        }
        pool = null;
        queue = null;
        copier = null;
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
        // Everything is made at start and given up at stop.
    }

    // ---- for the tasks ----

    boolean isRunning() {
        return state() == ContextState.RUNNING;
    }

    void add(Copy copy) {
        queue().add(copy);
    }

    void completed(DmaMemcpyTask task) {
        DmaTaskCallback<DmaMemcpyTask> callback =
                task.status() == Status.SUCCESS ? onSuccess : onFailure;
        Objects.requireNonNull(callback, "configured before start").completed(task);
    }

    /** The state first, so that the callback finds that nothing can be submitted any more. */
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
}
