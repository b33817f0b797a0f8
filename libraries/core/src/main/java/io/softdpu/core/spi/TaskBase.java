package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.execution.Task;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the tasks of all libraries: owner and status of a task, and its callback inside
 * progress. A library's task is a package-private class that extends this one and implements the
 * library's public interface, as its {@linkplain ContextBase context} does.
 *
 * <p>The library implements the submission ({@link #onSubmit}) and the call of the user's callback
 * ({@link #onCompleted}), and calls {@link #complete} when the work is done. Allocates nothing.
 */
public abstract class TaskBase implements Task {
    // Owners of a task. Numbers instead of an enum, since it changes with each message: the garbage
    // collector's barrier around each store of a reference cost 8 ns per message in all.

    /** In the pool: not in use. */
    private static final byte POOL = 0;

    /** Allocated, or its callback has begun: owned by the user. */
    private static final byte USER = 1;

    /** Submitted: owned by the library until the callback. */
    private static final byte LIBRARY = 2;

    /** Completed, but a sanitizer has not run its callback yet. */
    private static final byte HELD = 3;

    private final ContextEngine engine;
    private @Nullable TaskPool<?> pool;
    private @Nullable TaskChecker checker;
    private byte owner = POOL;
    private Status status = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;

    /** Creates a task of this context, for a {@link TaskPool}. */
    protected TaskBase(ContextBase context) {
        this.engine = Arguments.notNull(context, "context").engine();
    }

    /**
     * Validates the task and accepts it. Called in RUNNING, on the engine's thread. An error leaves
     * everything unchanged: no buf marked, nothing queued.
     *
     * @return SUCCESS if the library has accepted it; {@link #complete} is called later, in a
     *     progress
     */
    protected abstract Status onSubmit();

    /**
     * Details of the task for messages of refusals: {@code ", key=value"} one or more times, or
     * nothing.
     */
    protected String submissionDetails() {
        return "";
    }

    /** Runs the user's callback for {@link #status()}; the caller handles its exceptions. */
    protected abstract void onCompleted();

    /**
     * Whether tasks of this type complete in the order of submission, as receives do. The default
     * is false: then a sanitizer shuffles them.
     */
    protected boolean completesInOrder() {
        return false;
    }

    /** Clears the user's settings; called when the task is returned to its pool. */
    protected void onFree() {}

    @Override
    public final Context context() {
        return engine.context();
    }

    @Override
    public final Status status() {
        return status;
    }

    @Override
    public final void submit() {
        requireSubmitted(trySubmit(SubmitFlags.NONE));
    }

    @Override
    public final void submit(SubmitFlags flags) {
        requireSubmitted(trySubmit(Arguments.notNull(flags, "flags")));
    }

    private void requireSubmitted(Status submitted) {
        if (submitted != Status.SUCCESS) {
            throw new DpuException(
                    submitted,
                    "task was not submitted: task=%s, context=%s, state=%s%s"
                            .formatted(
                                    typeName(),
                                    engine.context(),
                                    engine.context().state(),
                                    submissionDetails()));
        }
    }

    @Override
    public final Status trySubmit() {
        return trySubmit(SubmitFlags.NONE);
    }

    @Override
    @SuppressWarnings("ConstantValue") // there is a status for what an annotation excludes
    public final Status trySubmit(SubmitFlags flags) {
        if (flags == null) {
            return Status.INVALID_VALUE;
        }
        engine.requireOwner();
        switch (owner) {
            case POOL -> {
                misused("task was submitted after it was freed");
                return Status.BAD_STATE;
            }
            case LIBRARY, HELD -> {
                misused("task was submitted in flight");
                return Status.IN_USE;
            }
            case USER -> {}
        }
        if (!engine.takesTasks()) {
            return Status.BAD_STATE;
        }
        if (checker != null) {
            if (checker.refuses()) {
                return Status.AGAIN;
            }
            checker.submitted(flags);
        }
        owner = LIBRARY;
        Status submitted = Status.UNEXPECTED;
        try {
            submitted = onSubmit();
        } finally {
            if (submitted == Status.SUCCESS) {
                engine.tasksSubmitted(1);
            } else {
                owner = USER;
                engine.taskRefused();
                if (checker != null) {
                    checker.refused();
                }
            }
        }
        if (flags.flushes() && submitted == Status.SUCCESS) {
            engine.flush();
        }
        return submitted;
    }

    // ---- submitted or completed with others ----

    /** Takes the task from its user for a submission; whether the user has it. */
    final boolean takeFromUser() {
        if (owner != USER) {
            return false;
        }
        owner = LIBRARY;
        return true;
    }

    /** Returns the task to its user, since it was not accepted. */
    final void returnToUser() {
        owner = USER;
    }

    /**
     * Completes the task as one of several, whose callback the library runs next, for all of them
     * and on every path: {@link ContextBase#completedAll}. Otherwise as {@link #complete}.
     *
     * @param ended SUCCESS or the failure
     * @return false if a sanitizer runs the callback of this one later, by {@link #onCompleted}
     */
    protected final boolean completeWithOthers(Status ended) {
        if (checker != null) {
            complete(ended);
            return false;
        }
        requireInFlight();
        owner = USER;
        setStatus(ended);
        return true;
    }

    @Override
    public final void free() {
        engine.requireOwner();
        switch (owner) {
            case LIBRARY, HELD -> {
                misused("task was freed in flight");
                throw inFlight();
            }
            case POOL -> {
                misused("task was freed twice");
                throw new DpuException(Status.BAD_STATE, "task was freed already: " + describe());
            }
            case USER -> {
                owner = POOL;
                onFree();
                userObject = null;
                if (checker != null) {
                    checker.freed();
                }
                Objects.requireNonNull(pool, "a task has a pool").put(this);
                engine.taskFreed();
            }
        }
    }

    @Override
    public final long userData() {
        return userData;
    }

    /** The library overrides it, to return its own type. */
    @Override
    public Task setUserData(long userData) {
        requireHandedOut();
        this.userData = userData;
        return this;
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    /** The library overrides it, to return its own type. */
    @Override
    public Task setUserObject(@Nullable Object userObject) {
        requireHandedOut();
        this.userObject = userObject;
        return this;
    }

    /**
     * Completes the task: it belongs to the user again, and its callback runs now, inside progress.
     * In the callback the task may be submitted again, freed, or kept, so the library does not use
     * it after this call, and has cleared its bufs before.
     *
     * @param ended SUCCESS or the failure
     */
    protected final void complete(Status ended) {
        requireInFlight();
        engine.requireProgressing();
        if (checker != null) {
            owner = HELD;
            checker.hold(ended);
        } else {
            deliver(ended);
        }
    }

    /** Returns the task to its user and runs the callback. */
    final void deliver(Status ended) {
        owner = USER;
        setStatus(ended);
        engine.tasksCompleted(1);
        try {
            onCompleted();
        } catch (Throwable e) {
            engine.callbackFailed(e);
        }
    }

    private void requireInFlight() {
        if (owner != LIBRARY) {
            throw new IllegalStateException(
                    "completed a task that is not in flight: " + describe());
        }
    }

    private void setStatus(Status ended) {
        if (status != ended) { // usually the same as the last time, and a comparison costs less
            status = ended;
        }
    }

    /** Whether the library owns the task, so that it must not be changed. */
    protected final boolean isInFlight() {
        return owner == LIBRARY || owner == HELD;
    }

    /**
     * Refuses a change of a task that the user does not own, or from another thread.
     *
     * @throws DpuException IN_USE if it is in flight, BAD_STATE if it was freed, NOT_PERMITTED from
     *     another thread
     */
    protected final void requireUser() {
        engine.requireOwner();
        switch (owner) {
            case LIBRARY, HELD -> {
                misused("task was changed in flight");
                throw inFlight();
            }
            case POOL -> {
                misused("task was changed after it was freed");
                throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
            }
            case USER -> {}
        }
    }

    final void setPool(TaskPool<?> newPool) {
        pool = newPool;
        ContextChecker contextChecker = engine.checker();
        checker = contextChecker == null ? null : new TaskChecker(this, newPool, contextChecker);
    }

    final void handOut() {
        owner = USER;
        status = Status.SUCCESS;
        userData = 0;
        if (checker != null) {
            checker.handedOut();
        }
    }

    final ContextEngine engine() {
        return engine;
    }

    /**
     * Refuses attaching data to a freed task; a task in flight may be changed, for its callback.
     */
    private void requireHandedOut() {
        engine.requireOwner();
        if (owner == POOL) {
            throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
        }
    }

    private void misused(String how) {
        if (checker != null) {
            checker.misused(how);
        }
    }

    private DpuException inFlight() {
        return new DpuException(Status.IN_USE, "task is in flight: " + describe());
    }

    final String describe() {
        return "task=" + typeName() + ", context=" + engine.context();
    }

    /** The name of the task for users: the library's public interface, or the class without one. */
    final String typeName() {
        Class<?>[] interfaces = getClass().getInterfaces();
        return (interfaces.length == 0 ? getClass() : interfaces[0]).getSimpleName();
    }
}
