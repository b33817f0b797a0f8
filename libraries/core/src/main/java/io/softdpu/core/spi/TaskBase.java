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
 * Base class of the tasks of all libraries: whose a task is, how it ended, and that its callback
 * runs inside progress. A library's task is a package-private class that extends this one and
 * implements the library's public interface, as its {@linkplain ContextBase context} does.
 *
 * <p>The library says what is to be done at submission ({@link #onSubmit}) and which of the user's
 * callbacks to run at the end ({@link #onCompleted}), and calls {@link #complete} when the work is
 * done. Allocates nothing.
 */
public abstract class TaskBase implements Task {
    // Whose a task is. Numbers and no enum, since it changes with each message: the garbage
    // collector's barrier around each store of a reference cost 8 ns a message in all.

    /** In the pool: nobody may use it. */
    private static final byte POOL = 0;

    /** Allocated, or its callback has begun: set it up, submit it, keep it, or free it. */
    private static final byte USER = 1;

    /** Submitted: hands off until the callback. */
    private static final byte LIBRARY = 2;

    /** Done, but a sanitizer has not run its callback yet. */
    private static final byte HELD = 3;

    private final ContextEngine engine;
    private @Nullable TaskPool<?> pool;
    private @Nullable TaskWatch watch;
    private byte owner = POOL;
    private Status status = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;

    /** A task of this context, for a {@link TaskPool} to hand out. */
    protected TaskBase(ContextBase context) {
        this.engine = Arguments.notNull(context, "context").engine();
    }

    /**
     * Validates the task and takes it. Called in RUNNING, on the engine's thread. Whoever returns
     * an error has left everything as it was: no buf marked, nothing queued.
     *
     * @return SUCCESS if the library has it now; {@link #complete} is called later, in a progress
     */
    protected abstract Status onSubmit();

    /**
     * What of the task may be the reason why it was refused, for the message: {@code ", key=value"}
     * or more of that, or nothing.
     */
    protected String submissionDetails() {
        return "";
    }

    /** Runs the user's callback for {@link #status()}; what it throws is seen to by the caller. */
    protected abstract void onCompleted();

    /**
     * Whether the library promises that tasks of this type complete in the order of their
     * submission, as receives do that are used up one after another. No unless overridden: a
     * sanitizer shuffles them then.
     */
    protected boolean completesInOrder() {
        return false;
    }

    /** Forgets what the user has set up; called when the task goes back to its pool. */
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
        if (!engine.isRunning()) {
            return Status.BAD_STATE;
        }
        if (watch != null) {
            if (watch.refuses()) {
                return Status.AGAIN;
            }
            watch.submitted(flags);
        }
        owner = LIBRARY;
        Status submitted = Status.UNEXPECTED;
        try {
            submitted = onSubmit();
        } finally {
            if (submitted == Status.SUCCESS) {
                engine.taskSubmitted();
            } else {
                owner = USER;
                if (watch != null) {
                    watch.refused();
                }
            }
        }
        if (flags.flushes() && submitted == Status.SUCCESS) {
            engine.flush();
        }
        return submitted;
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
                if (watch != null) {
                    watch.freed();
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

    @Override
    public final void setUserData(long userData) {
        requireHandedOut();
        this.userData = userData;
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    @Override
    public final void setUserObject(@Nullable Object userObject) {
        requireHandedOut();
        this.userObject = userObject;
    }

    /**
     * The work is done: the task is the user's again, and its callback runs now, inside progress.
     * In the callback the task may be submitted again, freed, or kept, so the library does not
     * touch it after this call, and has cleared its bufs before.
     *
     * @param ended how: SUCCESS or what went wrong
     */
    protected final void complete(Status ended) {
        if (owner != LIBRARY) {
            throw new IllegalStateException(
                    "completed a task that is not in flight: " + describe());
        }
        engine.requireProgressing();
        if (watch != null) {
            owner = HELD;
            watch.hold(ended);
        } else {
            deliver(ended);
        }
    }

    /** Gives the task back to its user. */
    final void deliver(Status ended) {
        owner = USER;
        if (status != ended) { // seldom another than the last time, and a look costs less
            status = ended;
        }
        engine.taskCompleted();
        try {
            onCompleted();
        } catch (Throwable e) {
            engine.callbackFailed(e);
        }
    }

    /** Whether the library has the task: what was set up must not be changed now. */
    protected final boolean isInFlight() {
        return owner == LIBRARY || owner == HELD;
    }

    /**
     * Refuses to change a task in any hands but the user's, or from another thread.
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

    final void belongTo(TaskPool<?> newPool) {
        pool = newPool;
        ContextWatch contextWatch = engine.watch();
        watch = contextWatch == null ? null : new TaskWatch(this, newPool, contextWatch);
    }

    final void handOut() {
        owner = USER;
        status = Status.SUCCESS;
        userData = 0;
        if (watch != null) {
            watch.handedOut();
        }
    }

    final ContextEngine engine() {
        return engine;
    }

    /** What is attached in flight is for the callback; what is attached later is for nobody. */
    private void requireHandedOut() {
        engine.requireOwner();
        if (owner == POOL) {
            throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
        }
    }

    private void misused(String how) {
        if (watch != null) {
            watch.misused(how);
        }
    }

    private DpuException inFlight() {
        return new DpuException(Status.IN_USE, "task is in flight: " + describe());
    }

    final String describe() {
        return "task=" + typeName() + ", context=" + engine.context();
    }

    /** What users know the task by: the library's public interface, or the class without one. */
    final String typeName() {
        Class<?>[] interfaces = getClass().getInterfaces();
        return (interfaces.length == 0 ? getClass() : interfaces[0]).getSimpleName();
    }
}
