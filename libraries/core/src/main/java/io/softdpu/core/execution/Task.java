package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * A piece of work for a context. Tasks come from the pool of their context, which was made at
 * start; allocate one, set it up, submit it, and when its callback has run it is yours again:
 * submit it anew, keep it, or free it.
 *
 * <p>From a successful submit until its callback a task, and the bufs that it was given, belong to
 * the library. Thread: that of the context's engine, and a call from another fails with
 * NOT_PERMITTED; what only looks at the task checks nothing and should come from there too.
 */
public interface Task {
    /** The context that does the work. */
    Context context();

    /** How the task ended the last time; SUCCESS before it was ever submitted. */
    Status status();

    /**
     * Submits the task.
     *
     * @throws DpuException with the status that {@link #trySubmit()} would have returned
     */
    void submit();

    /**
     * Submits the task with wishes.
     *
     * @throws DpuException with the status that {@link #trySubmit(SubmitFlags)} would have returned
     */
    void submit(SubmitFlags flags);

    /**
     * Validates and submits the task without wishes; never throws for what can happen in normal
     * work.
     *
     * @return SUCCESS if the library has it now, AGAIN if a queue is full (try again after a
     *     progress), BAD_STATE if the context is not running or the task was freed, IN_USE if the
     *     task or one of its bufs is in flight already, another status if the task is not valid
     */
    Status trySubmit();

    /**
     * Validates and submits the task with wishes.
     *
     * @return as {@link #trySubmit()}; INVALID_VALUE also if there are no flags
     */
    Status trySubmit(SubmitFlags flags);

    /**
     * Gives the task back to its pool.
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
    void setUserData(long userData);

    /** The object that the user has attached; null at first. */
    @Nullable Object userObject();

    /**
     * Attaches an object; null for none. It is forgotten when the task is freed.
     *
     * @throws DpuException BAD_STATE if the task was freed; NOT_PERMITTED from another thread
     */
    void setUserObject(@Nullable Object userObject);
}
