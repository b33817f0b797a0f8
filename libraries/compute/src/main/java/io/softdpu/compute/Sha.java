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
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * SHA context, which hashes memory (Core guide, sections 3.4 and 3.4.2): the data of a buf or of a
 * list of bufs, local or imported over PCIe, as a whole or in parts; the digest is appended to
 * another buf or list. The algorithms are those of {@link ShaAlgorithm}; the JDK computes them.
 *
 * <p>The order: create, configure the tasks of one type or both, connect to a progress engine,
 * {@linkplain #start start}: it is RUNNING at once. Hashes are computed inside progress, a slice of
 * each at a time, so that a large one does not block the engine. {@linkplain #stop Stopping}
 * flushes tasks in flight with SHUTDOWN; the context is IDLE when all tasks have been freed.
 *
 * <p>A hash that fails after submission moves the context to STOPPING, as a copy does: the other
 * tasks are flushed, {@link #failure()} gives the reason, and after the tasks are freed the context
 * can be started again.
 *
 * <p>The older form is jobs on work queues, {@linkplain #createHashJob whole} or {@linkplain
 * #createPartialHashJob in parts}: the context is started without an engine and without tasks, and
 * added to any number of queues on as many threads. The failure of a job does not affect other
 * jobs.
 *
 * <p>Thread: that of the engine; without one, any.
 */
public sealed interface Sha extends Context permits ShaContext {
    /** Type of the jobs that hash a source as a whole. */
    JobType HASH_JOB = new JobType("sha hash");

    /** Type of the jobs that hash a part. */
    JobType PARTIAL_HASH_JOB = new JobType("sha partial hash");

    /**
     * Creates a context on a device, which cannot be closed while the context is started.
     *
     * @throws DpuException NOT_SUPPORTED if the device has no SHA; BAD_STATE if it is closed
     */
    static Sha create(Device device) {
        Arguments.notNull(device, "device");
        ShaCapabilities capabilities = ShaCapabilities.of(device.info());
        if (!capabilities.isSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device has no SHA: device=%s, limit=%s, maxTasks=0, expected=1 or"
                                    + " more",
                            device, ShaCapabilities.TASKS_LIMIT));
        }
        return new ShaContext(device, capabilities);
    }

    /**
     * Sets the number of tasks that hash a source as a whole, and the callbacks for their
     * completion; a further call replaces both.
     *
     * @param count number of tasks in the pool
     * @param onSuccess callback for successful tasks
     * @param onFailure callback for failed tasks
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link ShaCapabilities#maxTasks()}
     */
    Sha setHashTasks(
            int count,
            ShaTaskCallback<ShaHashTask> onSuccess,
            ShaTaskCallback<ShaHashTask> onFailure);

    /**
     * Sets the number of tasks that hash in parts, and the callbacks for the completion of each
     * part; a further call replaces both.
     *
     * @param count number of tasks in the pool
     * @param onSuccess callback for successful parts
     * @param onFailure callback for failed parts
     * @throws DpuException BAD_STATE unless IDLE; INVALID_VALUE if the count is not positive or
     *     beyond {@link ShaCapabilities#maxTasks()}
     */
    Sha setPartialHashTasks(
            int count,
            ShaTaskCallback<ShaPartialHashTask> onSuccess,
            ShaTaskCallback<ShaPartialHashTask> onFailure);

    /** Its capabilities and limits. */
    ShaCapabilities capabilities();

    /**
     * Allocates a task that hashes a source as a whole.
     *
     * @param source the buf, or the head of the list, that is hashed
     * @param destination the buf, or the head of the list, that the digest is appended to
     * @throws DpuException BAD_STATE unless RUNNING, and if no progress engine was connected before
     *     the start, which is then for jobs only, or if no tasks of the type were configured;
     *     NO_MEMORY if all are allocated; INVALID_VALUE if an argument is null; NOT_PERMITTED from
     *     another thread
     */
    ShaHashTask allocateHash(ShaAlgorithm algorithm, Buf source, Buf destination);

    /**
     * Does the same as {@link #allocateHash}, but returns null if all tasks are allocated. Costs no
     * exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocateHash}, without NO_MEMORY
     */
    @Nullable ShaHashTask tryAllocateHash(ShaAlgorithm algorithm, Buf source, Buf destination);

    /**
     * Allocates a task that hashes in parts.
     *
     * @param source the buf, or the head of the list, with the first part
     * @param destination the buf, or the head of the list, that the digest is appended to
     * @throws DpuException as {@link #allocateHash}
     */
    ShaPartialHashTask allocatePartialHash(ShaAlgorithm algorithm, Buf source, Buf destination);

    /**
     * Does the same as {@link #allocatePartialHash}, but returns null if all tasks are allocated.
     * Costs no exception: for programs that try again after a completion.
     *
     * @throws DpuException as {@link #allocatePartialHash}, without NO_MEMORY
     */
    @Nullable ShaPartialHashTask tryAllocatePartialHash(
            ShaAlgorithm algorithm, Buf source, Buf destination);

    /**
     * Creates a job that hashes a source as a whole, for the work queues that this context is added
     * to. Any thread.
     *
     * @param source the buf, or the head of the list, that is hashed
     * @param destination the buf, or the head of the list, that the digest is appended to
     * @throws DpuException INVALID_VALUE if an argument is null; NOT_SUPPORTED if the JDK does not
     *     have the algorithm
     */
    ShaHashJob createHashJob(ShaAlgorithm algorithm, Buf source, Buf destination);

    /**
     * Creates a session for jobs that hash in parts. Any thread.
     *
     * @throws DpuException INVALID_VALUE if the algorithm is null; NOT_SUPPORTED if the device does
     *     not have it
     */
    ShaSession createSession(ShaAlgorithm algorithm);

    /**
     * Creates a job that hashes a part, for the work queues that this context is added to. Any
     * thread.
     *
     * @param session the session of the hash, of this context
     * @param source the buf, or the head of the list, with the part
     * @param destination the buf, or the head of the list, that the digest is appended to
     * @throws DpuException INVALID_VALUE if an argument is null, or the session is of another
     *     context
     */
    ShaPartialHashJob createPartialHashJob(ShaSession session, Buf source, Buf destination);

    @Override
    Sha setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    Sha setDataPathLocation(DataPathLocation location);

    @Override
    Sha setUserData(long userData);

    @Override
    Sha setUserObject(@Nullable Object userObject);
}
