package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Unit of work for a context. Tasks come from the pool of their context, which is created at start;
 * allocate one, set it up and submit it. When its callback runs it belongs to the user again, who
 * submits it again, keeps it, or frees it.
 *
 * <p>From a successful submit until its callback a task and its bufs belong to the library. Thread:
 * that of the context's engine, and a call from another fails with NOT_PERMITTED; accessors do not
 * check the thread and should be called on it too.
 */
public interface Task {
    /** The context that executes it. */
    Context context();

    /**
     * The result of the last execution; IN_PROGRESS while the task is in flight, and SUCCESS before
     * it was ever submitted.
     */
    Status status();

    /**
     * Submits the task.
     *
     * @throws DpuException with the status that {@link #trySubmit()} would have returned, and the
     *     reason: the {@link #refusal()}
     */
    void submit();

    /**
     * Submits the task with flags.
     *
     * @throws DpuException with the status that {@link #trySubmit(SubmitFlags)} would have
     *     returned, and the reason: the {@link #refusal()}
     */
    void submit(SubmitFlags flags);

    /**
     * Validates and submits the task without flags; never throws in normal operation.
     *
     * @return SUCCESS if the library has accepted it, AGAIN if a queue is full (retry after a
     *     progress), BAD_STATE if the context is not running or the task was freed, IN_USE if the
     *     task or one of its bufs is in flight already, another status if the task is not valid.
     *     {@link #refusal()} gives the reason
     */
    Status trySubmit();

    /**
     * Validates and submits the task with flags.
     *
     * @return as {@link #trySubmit()}; INVALID_VALUE also if flags is null
     */
    Status trySubmit(SubmitFlags flags);

    /**
     * The reason of the last submission if that was refused: the exception that {@link #submit()}
     * has thrown, or would have thrown in place of {@link #trySubmit()}. It names the object, the
     * actual and the expected value, and has the failure of the context as its cause if that is
     * why. Null if the last submission was accepted, before the first, and once the task was
     * completed or freed since.
     *
     * <p>The exception is created by this call, from values of the refusal: a program that retries
     * after AGAIN and never asks allocates nothing.
     */
    @Nullable DpuException refusal();

    /**
     * Returns the task to its pool.
     *
     * @throws DpuException IN_USE if it is in flight, BAD_STATE if it was freed already
     */
    void free();

    /** The number that the user has attached; 0 at first. */
    long userData();

    /**
     * Attaches a number, for example an index; also in flight, for the callback to see.
     *
     * @throws DpuException BAD_STATE if the task was freed; NOT_PERMITTED from another thread
     */
    Task setUserData(long userData);

    /** The object that the user has attached; null at first. */
    @Nullable Object userObject();

    /**
     * Attaches an object; null for none. It is cleared when the task is freed.
     *
     * @throws DpuException BAD_STATE if the task was freed; NOT_PERMITTED from another thread
     */
    Task setUserObject(@Nullable Object userObject);
}
