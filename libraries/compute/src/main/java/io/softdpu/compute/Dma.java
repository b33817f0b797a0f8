package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * DMA context, which copies memory (Core guide, sections 3.4 and 3.4.2): between any two bufs or
 * lists of bufs, local or imported over PCIe, in either direction.
 *
 * <p>The order: create, configure the tasks, connect to a progress engine, {@linkplain #start
 * start}: it is RUNNING at once. Copies are done inside progress, a slice of each at a time, so
 * that a large one does not block the engine. {@linkplain #stop Stopping} flushes tasks in flight
 * with SHUTDOWN; the context is IDLE when all tasks have been freed.
 *
 * <p>A copy that fails after submission moves the context to STOPPING, as on a card: the other
 * tasks are flushed, {@link #failure()} gives the reason, and after the tasks are freed the context
 * can be started again.
 *
 * <p>The older form is {@linkplain #createMemcpyJob jobs} on work queues: the context is started
 * without an engine and without tasks, and added to any number of queues on as many threads. The
 * failure of a job does not affect other jobs.
 *
 * <p>Thread: that of the engine; without one, any.
 */
public sealed interface Dma extends Context permits DmaContext {
    /** Type of the jobs that copy memory. */
    JobType MEMCPY_JOB = new JobType("dma memcpy");

    /**
     * Creates a context on a device, which cannot be closed while the context is started.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no DMA; BAD_STATE if it is closed
     */
    static Dma create(Device device) {
        Arguments.notNull(device, "device");
        DmaCapabilities capabilities = DmaCapabilities.of(device.info());
        if (!capabilities.isSupported()) {
            throw new DpuException(Status.NOT_SUPPORTED, "device has no DMA: device=" + device);
        }
        return new DmaContext(device, capabilities);
    }

    /**
     * Sets the number of memcpy tasks and the callbacks for their completion; a further call
     * replaces both.
     *
     * @param count number of tasks in the pool
     * @param onSuccess callback for successful tasks
     * @param onFailure callback for failed tasks
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link DmaCapabilities#maxTasks()}
     */
    Dma setMemcpyTasks(
            int count,
            DmaTaskCallback<DmaMemcpyTask> onSuccess,
            DmaTaskCallback<DmaMemcpyTask> onFailure);

    /** Its capabilities and limits. */
    DmaCapabilities capabilities();

    /**
     * Allocates a memcpy task.
     *
     * @param source the buf, or the head of the list, that is read
     * @param destination the buf, or the head of the list, that is written
     * @throws DpuException BAD_STATE unless RUNNING, and if no progress engine was connected before
     *     the start, which is then for jobs only; NO_MEMORY if all are allocated; INVALID_VALUE if
     *     a buf is null; NOT_PERMITTED from another thread
     */
    DmaMemcpyTask allocateMemcpy(Buf source, Buf destination);

    /**
     * Does the same as {@link #allocateMemcpy}, but returns null if all tasks are allocated. Costs
     * no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateMemcpy}, without NO_MEMORY
     */
    @Nullable DmaMemcpyTask tryAllocateMemcpy(Buf source, Buf destination);

    /**
     * Creates a memcpy job, for the work queues that this context is added to. Any thread.
     *
     * @param source the buf, or the head of the list, that is read
     * @param destination the buf, or the head of the list, that is written
     * @throws DpuException INVALID_VALUE if a buf is null
     */
    DmaMemcpyJob createMemcpyJob(Buf source, Buf destination);

    @Override
    Dma setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    Dma setDataPathLocation(DataPathLocation location);

    @Override
    Dma setUserData(long userData);

    @Override
    Dma setUserObject(@Nullable Object userObject);
}
