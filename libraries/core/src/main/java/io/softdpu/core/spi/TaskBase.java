package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.graph.HoldingNode;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the tasks of all libraries: owner and status of a task, and its callback inside
 * progress. A library's task is a package-private class that extends this one and implements the
 * library's public interface, as its {@linkplain ContextBase context} does.
 *
 * <p>The library implements the submission ({@link #onSubmit}) and the call of the user's callback
 * ({@link #onCompleted}), and calls {@link #complete} when the work is done. Allocates nothing.
 *
 * @param <T> the library's public interface, which setters return: each class that can be created
 *     implements the interface that it names here, {@code WriteTask extends TaskBase<RdmaWriteTask>
 *     implements RdmaWriteTask}
 */
public abstract class TaskBase<T extends Task> implements Task {
    // Owners of a task. Numbers instead of an enum, since it changes with each message: the garbage
    // collector's barrier around each store of a reference cost 8 ns per message in all.

    /** In the pool: not in use. */
    private static final byte POOL = 0;

    /** Allocated, or its callback has begun: owned by the user. */
    private static final byte USER = 1;

    /** Submitted: owned by the library until the callback. */
    private static final byte LIBRARY = 2;

    /** Completed, but a sanitizer has not run its callback yet. */
    private static final byte DELAYED = 3;

    /** The bits of the owner; {@link #REFUSED} and {@link #NODE} are beside them. */
    private static final byte OWNER = 3;

    /**
     * Set while the last submission counts as refused. A bit of the owner, so that an accepted
     * submission and a completion, which change the owner, end it at no cost.
     */
    private static final byte REFUSED = 4;

    /**
     * Set while the node of a graph holds the task, which is then submitted by that alone. A bit of
     * the owner, so that the checks of the owner find it at no cost.
     */
    private static final byte NODE = 8;

    /** No node holds the task. */
    private static final byte NO_NODE = 0;

    private static final byte OWNER_AND_NODE = OWNER | NODE;

    private static final Refusal NO_FLAGS =
            Refusal.ready(
                    Status.INVALID_VALUE,
                    () -> "argument is null: argument=flags, expected=SubmitFlags.NONE for none");
    private static final Refusal FREED =
            Refusal.ready(
                    Status.BAD_STATE,
                    () -> "task was freed: owner=pool, expected=a task that is allocated");
    private static final Refusal IN_FLIGHT =
            Refusal.ready(
                    Status.IN_USE,
                    () -> "task is in flight: owner=library, expected=its callback first");
    private static final Refusal OF_NODE =
            Refusal.ready(
                    Status.IN_USE,
                    () ->
                            "a node of a graph holds the task: owner=graph instance, expected=a"
                                    + " submission of the instance, or its close first");

    private final ContextEngine engine;
    private @Nullable TaskPool<?> pool;
    private @Nullable TaskInterceptor interceptor;
    private byte owner = POOL;
    private @Nullable Refusal refusal;
    private Status status = Status.SUCCESS;
    private long userData;
    private @Nullable Object userObject;

    /** Creates a task of this context, for a {@link TaskPool}. */
    protected TaskBase(ContextBase<?> context) {
        this.engine = Arguments.notNull(context, "context").engine();
    }

    /**
     * Validates the task and accepts it. Called in RUNNING, on the engine's thread. An error leaves
     * everything unchanged: no buf marked, nothing queued.
     *
     * @return null if the library has accepted it: {@link #complete} is called later, in a
     *     progress; else why not, without the task and its context, which are added here. That of a
     *     full queue is {@linkplain Refusal#ready ready}, since it is part of normal operation
     */
    protected abstract @Nullable Refusal onSubmit();

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
        return isInFlight() ? Status.IN_PROGRESS : status;
    }

    @Override
    public final void submit() {
        submit(SubmitFlags.NONE);
    }

    @Override
    public final void submit(SubmitFlags flags) {
        if (trySubmit(Arguments.notNull(flags, "flags")) != Status.SUCCESS) {
            throw Objects.requireNonNull(refusal(), "refused");
        }
    }

    @Override
    public final Status trySubmit() {
        return trySubmit(SubmitFlags.NONE);
    }

    @Override
    public final Status trySubmit(SubmitFlags flags) {
        engine.requireOwner();
        Refusal refused = submission(flags);
        if (refused == null) {
            return Status.SUCCESS;
        }
        keep(refused);
        return refused.status();
    }

    @Override
    public final @Nullable DpuException refusal() {
        Refusal last = refusal;
        return (owner & REFUSED) == 0 || last == null ? null : last.exception(describe());
    }

    /** Submits the task: null if it was accepted, else why not. */
    @SuppressWarnings("ConstantValue") // there is a status for what an annotation excludes
    private @Nullable Refusal submission(SubmitFlags flags) {
        if (flags == null) {
            return NO_FLAGS;
        }
        if ((owner & OWNER_AND_NODE) != USER) {
            return notTheUsers();
        }
        Refusal refused = handOver(flags, NO_NODE);
        if (refused == null && flags.flushes()) {
            engine.flush();
        }
        return refused;
    }

    /**
     * Hands the task to the library: null if it was accepted, else why not.
     *
     * @param by {@link #NODE}, or {@link #NO_NODE} for the user itself
     */
    private @Nullable Refusal handOver(SubmitFlags flags, byte by) {
        if (!engine.takesTasks()) {
            return engine.notRunning();
        }
        if (interceptor != null) {
            if (interceptor.refuses()) {
                return TaskChecker.REFUSAL;
            }
            interceptor.submitted(flags);
        }
        owner = (byte) (LIBRARY | by);
        Refusal refused;
        try {
            refused = onSubmit();
        } catch (Throwable e) {
            notAccepted(by);
            throw e;
        }
        if (refused == null) {
            engine.tasksSubmitted(1);
        } else {
            notAccepted(by);
        }
        return refused;
    }

    private void notAccepted(byte by) {
        owner = (byte) (USER | by);
        engine.workAdded();
        if (interceptor != null) {
            interceptor.refused();
        }
    }

    /** Keeps the reason for the user, until the next submission is accepted. */
    final void keep(Refusal refused) {
        if (refusal != refused) { // a full queue usually refuses several times with one object
            refusal = refused;
        }
        owner |= REFUSED;
    }

    /** The refusal of a task that its user does not have, since it is in flight or was freed. */
    final Refusal notTheUsers() {
        if ((owner & OWNER) == POOL) {
            misused("task was submitted after it was freed");
            return FREED;
        }
        if ((owner & OWNER_AND_NODE) == (USER | NODE)) {
            misused("task was submitted while a graph instance holds it");
            return OF_NODE;
        }
        misused("task was submitted in flight");
        return IN_FLIGHT;
    }

    // ---- submitted or completed with others ----

    /** Takes the task from its user for a submission; whether the user has it. */
    final boolean takeFromUser() {
        if ((owner & OWNER_AND_NODE) != USER) {
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
     * @return false if a sanitizer runs the callback of this one later, by {@link #onCompleted}, or
     *     a node of a graph holds it, so that it has no callback
     */
    protected final boolean completeWithOthers(Status ended) {
        if (interceptor != null) {
            requireInFlight();
            engine.requireProgressing();
            interceptor.completedWithOthers(ended);
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
        switch (owner & OWNER_AND_NODE) {
            case POOL -> {
                misused("task was freed twice");
                throw new DpuException(Status.BAD_STATE, "task was freed already: " + describe());
            }
            case USER -> {
                owner = POOL;
                onFree();
                userObject = null;
                if (interceptor != null) {
                    interceptor.freed();
                }
                Objects.requireNonNull(pool, "a task has a pool").put(this);
                engine.taskFreed();
            }
            case USER | NODE -> {
                misused("task was freed while a graph instance holds it");
                throw heldByNode(", expected=close of the instance first");
            }
            default -> {
                misused("task was freed in flight");
                throw inFlight();
            }
        }
    }

    @Override
    public final long userData() {
        return userData;
    }

    @Override
    public final T setUserData(long userData) {
        requireHandedOut();
        this.userData = userData;
        return self();
    }

    @Override
    public final @Nullable Object userObject() {
        return userObject;
    }

    @Override
    public final T setUserObject(@Nullable Object userObject) {
        requireHandedOut();
        this.userObject = userObject;
        return self();
    }

    /** This task as its users see it, for setters. */
    @SuppressWarnings("unchecked") // a class that can be created implements T
    protected final T self() {
        return (T) this;
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
        if (interceptor != null) {
            interceptor.completed(ended);
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
            engine.impl().callbackFailed(e);
        }
    }

    // ---- for a sanitizer and for graphs ----

    /** A sanitizer delays the callback. */
    final void delay() {
        owner = (byte) (DELAYED | (owner & NODE));
    }

    /** Delivers a completion that a sanitizer has delayed. */
    final void deliverDelayed(Status ended) {
        if ((owner & NODE) == 0) {
            deliver(ended);
        } else {
            deliverToNode(ended);
        }
    }

    /** Returns the task to the node that holds it, and tells that. */
    final void deliverToNode(Status ended) {
        returnToNode(ended);
        nodeHold().node().ended(ended);
    }

    /** Returns the task to the node that holds it, which is told by the caller. */
    final void returnToNode(Status ended) {
        owner = USER | NODE;
        setStatus(ended);
        engine.tasksCompleted(1);
    }

    /**
     * Gives the task to a node of a graph.
     *
     * @throws DpuException IN_USE if it is in flight or held already, BAD_STATE if it was freed
     */
    final void holdFor(HoldingNode node) {
        switch (owner & OWNER_AND_NODE) {
            case USER -> {
                interceptor = new TaskHold(this, node, interceptor);
                owner = USER | NODE;
            }
            case POOL -> throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
            case USER | NODE -> throw heldByNode(", expected=close of the instance first");
            default -> throw inFlight();
        }
    }

    /** Takes the task from the node that holds it; it is not in flight. */
    final void releaseFromNode() {
        if ((owner & OWNER_AND_NODE) != (USER | NODE)) {
            throw new IllegalStateException("released in flight, or twice: " + describe());
        }
        interceptor = nodeHold().checker();
        owner = USER;
    }

    /** Submits the task for the node that holds it: null if it was accepted, else why not. */
    final @Nullable Refusal submitForNode() {
        if ((owner & OWNER_AND_NODE) != (USER | NODE)) {
            throw new IllegalStateException("not with its node: " + describe());
        }
        return handOver(SubmitFlags.NONE, NODE);
    }

    private TaskHold nodeHold() {
        if (interceptor instanceof TaskHold hold) {
            return hold;
        }
        throw new IllegalStateException("no node holds it: " + describe());
    }

    private DpuException heldByNode(String expected) {
        return new DpuException(
                Status.IN_USE,
                Text.format(
                        "a node of a graph holds the task: %s, %s%s",
                        describe(), nodeHold().node().describe(), expected),
                nodeHold().node().allocatedAt());
    }

    private void requireInFlight() {
        if ((owner & OWNER) != LIBRARY) {
            throw new IllegalStateException(
                    "completed a task that is not in flight: " + describe());
        }
    }

    /** Whether its status is SUCCESS, which decides the callback of a completed task. */
    final boolean hasSucceeded() {
        return status == Status.SUCCESS;
    }

    private void setStatus(Status ended) {
        if (status != ended) { // usually the same as the last time, and a comparison costs less
            status = ended;
        }
    }

    /** Whether the library owns the task, so that it must not be changed. */
    protected final boolean isInFlight() {
        return (owner & OWNER) >= LIBRARY;
    }

    /**
     * Refuses a change of a task that the user does not own, or from another thread.
     *
     * @throws DpuException IN_USE if it is in flight, or a node of a graph instance in flight holds
     *     it and no user node runs, BAD_STATE if it was freed, NOT_PERMITTED from another thread
     */
    protected final void requireUser() {
        engine.requireOwner();
        switch (owner & OWNER_AND_NODE) {
            case USER -> {}
            case POOL -> {
                misused("task was changed after it was freed");
                throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
            }
            case USER | NODE -> {
                if (nodeHold().node().isFixed()) {
                    misused("task was changed while a graph instance in flight holds it");
                    throw heldByNode(", expected=a change by a user node, or after the instance");
                }
            }
            default -> {
                misused("task was changed in flight");
                throw inFlight();
            }
        }
    }

    /**
     * Requires that an operand is set: only a task that was freed has none.
     *
     * @param item the name of the operand, for the message
     * @throws DpuException BAD_STATE if it is null
     */
    protected final <V> V requireSet(@Nullable V operand, String item) {
        if (operand == null) {
            throw new DpuException(
                    Status.BAD_STATE, "task was freed: item=" + item + ", " + describe());
        }
        return operand;
    }

    final void setPool(TaskPool<?> newPool) {
        pool = newPool;
        ContextChecker contextChecker = engine.checker();
        interceptor =
                contextChecker == null ? null : new TaskChecker(this, newPool, contextChecker);
    }

    final void handOut() {
        owner = USER;
        status = Status.SUCCESS;
        userData = 0;
        if (interceptor != null) {
            interceptor.handedOut();
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
        if ((owner & OWNER) == POOL) {
            throw new DpuException(Status.BAD_STATE, "task was freed: " + describe());
        }
    }

    private void misused(String how) {
        if (interceptor != null) {
            interceptor.misused(how);
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
