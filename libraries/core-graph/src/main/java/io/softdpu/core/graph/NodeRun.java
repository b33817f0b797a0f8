package io.softdpu.core.graph;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.Task;
import io.softdpu.core.spi.GraphServices;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.core.spi.graph.HoldingNode;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Node of one instance: what it holds, and the state of its present or last run. Created with the
 * instance and used for each of its runs. The thread of the instance.
 */
final class NodeRun extends HoldingNode {
    // Numbers of the states.

    private static final byte IDLE = 0;
    private static final byte WAITING = 1;
    private static final byte RUNNING = 2;
    private static final byte COMPLETED = 3;
    private static final byte FAILED = 4;
    private static final byte SKIPPED = 5;

    /** The states as users see them, by their numbers. */
    private static final NodeState[] STATES = {
        NodeState.IDLE,
        NodeState.WAITING,
        NodeState.RUNNING,
        NodeState.COMPLETED,
        NodeState.FAILED,
        NodeState.SKIPPED
    };

    private final GraphInstance instance;
    private final GraphNode node;
    private final int parents;
    private final @Nullable UserNodeCallback callback;
    private final boolean hasContext;
    private @Nullable Task task;
    private @Nullable Job job;
    private @Nullable Object object;
    private @Nullable GraphInstance subinstance;

    /** The nodes that depend on this one. */
    private NodeRun[] children = new NodeRun[0];

    // The state of a run. What a run without failures changes are numbers only, since stores of
    // references cost more.

    private byte state = IDLE;

    /** Parents that have not succeeded in this run. */
    private int waitingFor;

    /** The failure, in the state FAILED. */
    private Status failure = Status.SUCCESS;

    private @Nullable Refusal refusal;
    private @Nullable Throwable thrown;

    /** Why the context has failed, if it had when the node did. */
    private @Nullable DpuException failureOfContext;

    /** An end that is in the scheduler's list, to be handled later; null for none. */
    private @Nullable Status end;

    // ---- for the scheduler alone ----

    /** The next in the scheduler's list. */
    @Nullable NodeRun next;

    /** Whether its last try of a submission was refused, to be repeated. */
    boolean retries;

    NodeRun(GraphInstance instance, GraphNode node) {
        this.instance = instance;
        this.node = node;
        this.parents = node.parents();
        this.callback = node.callback();
        this.hasContext = node.context() != null;
    }

    /** Sets the nodes that depend on this one, when all of the instance were created. */
    void link(NodeRun[] all) {
        int[] indices = node.startedChildren();
        children = new NodeRun[indices.length];
        for (int i = 0; i < indices.length; i++) {
            children[i] = all[indices[i]];
        }
    }

    NodeRun[] children() {
        return children;
    }

    GraphInstance instance() {
        return instance;
    }

    GraphNode node() {
        return node;
    }

    boolean isUserNode() {
        return callback != null;
    }

    boolean isContextNode() {
        return hasContext;
    }

    NodeState state() {
        return STATES[state];
    }

    Status status() {
        return switch (state) {
            case WAITING, RUNNING -> Status.IN_PROGRESS;
            case FAILED -> failure;
            case SKIPPED -> Status.SKIPPED;
            default -> Status.SUCCESS;
        };
    }

    // ---- what it holds ----

    void setTask(Task newTask) {
        if (isSame(task, newTask)) {
            return;
        }
        GraphServices.holdTask(newTask, this);
        release();
        task = newTask;
    }

    void setJob(Job newJob) {
        if (isSame(job, newJob)) {
            return;
        }
        GraphServices.holdJob(newJob, this);
        release();
        job = newJob;
    }

    void setObject(@Nullable Object newObject) {
        object = newObject;
    }

    void setSubinstance(GraphInstance newInstance) {
        if (isSame(subinstance, newInstance)) {
            return;
        }
        newInstance.holdFor(this);
        release();
        subinstance = newInstance;
    }

    @SuppressWarnings("ReferenceEquality") // tasks, jobs and instances are objects, not values
    private static boolean isSame(@Nullable Object present, Object other) {
        return present == other;
    }

    /** Returns what it holds to the user. */
    void release() {
        if (task != null) {
            GraphServices.releaseTask(task);
            task = null;
        }
        if (job != null) {
            GraphServices.releaseJob(job);
            job = null;
        }
        if (subinstance != null) {
            subinstance.releaseFromNode();
            subinstance = null;
        }
        object = null;
    }

    /** The first node that has nothing to run, here or in the sub-graph; null if there is none. */
    @Nullable NodeRun firstWithoutData() {
        if (callback != null || task != null || job != null) {
            return null;
        }
        return subinstance == null ? this : subinstance.firstWithoutData();
    }

    GraphInstance subinstance() {
        return Objects.requireNonNull(subinstance, "checked at the submission");
    }

    // ---- the run ----

    /** Begins a run: the node waits for its parents. */
    void reset() {
        if (state == FAILED) {
            refusal = null;
            thrown = null;
            failureOfContext = null;
        }
        state = WAITING;
        waitingFor = parents;
    }

    /** A parent has succeeded; whether that was the last. */
    boolean parentSucceeded() {
        return --waitingFor == 0;
    }

    void running() {
        state = RUNNING;
    }

    void waiting() {
        state = WAITING;
    }

    /** The instance has ended; the node will not start if it has not. */
    void skipIfWaiting() {
        if (state == WAITING) {
            state = SKIPPED;
            if (subinstance != null) {
                subinstance.skip();
            }
        }
    }

    /** Ends with this status, or the failure. */
    void ended(boolean successful, Status how) {
        if (successful) {
            state = COMPLETED;
        } else {
            state = FAILED;
            failure = how;
            Context context = node.context();
            failureOfContext = context == null ? null : context.failure();
        }
    }

    /** Submits the task or job: null if it was accepted, else why not. */
    @Nullable Refusal submit(@Nullable GraphQueue queue) {
        return queue == null
                ? GraphServices.submitTask(
                        Objects.requireNonNull(task, "checked at the submission"))
                : GraphServices.submitJob(
                        Objects.requireNonNull(job, "checked at the submission"), queue);
    }

    /** Runs the callback of the user. */
    Status runCallback() {
        return Objects.requireNonNull(callback, "a user node").run(object);
    }

    /** Its submission was refused, and is not repeated. */
    void refused(Refusal why) {
        refusal = why;
    }

    /** Its callback, or its submission, has thrown. */
    void threw(Throwable why) {
        thrown = why;
    }

    /** It has ended, which is to be handled later. */
    void setEnd(Status how) {
        end = how;
    }

    /** Takes the end that is to be handled; null if there is none. */
    @Nullable Status takeEnd() {
        Status ended = end;
        if (ended != null) {
            end = null;
        }
        return ended;
    }

    /** The failure of its last run as an exception. */
    DpuException failure() {
        Throwable cause = thrown;
        if (cause == null && refusal != null) {
            cause = refusal.exception("node=" + node);
        } else if (cause == null && subinstance != null) {
            cause = subinstance.failure();
        } else if (cause == null) {
            cause = failureOfContext;
        }
        return new DpuException(
                failure,
                Text.format(
                        "node has failed: node=%s, instance=%s, status=%s",
                        node, instance, failure),
                cause);
    }

    // ---- for the task or job ----

    @Override
    public void ended(Status how) {
        instance.scheduler().ended(this, how);
    }

    @Override
    public void endedWithOthers(Status how) {
        instance.scheduler().endLater(this, how);
    }

    @Override
    public boolean isFixed() {
        return instance.isFixed();
    }

    @Override
    public String describe() {
        return Text.format("node=%s, instance=%s", node, instance);
    }

    @Override
    public void misused(String what) {
        instance.reportMisuse(what);
    }

    @Override
    public @Nullable Throwable allocatedAt() {
        return instance.createdAt();
    }
}
