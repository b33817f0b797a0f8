package io.softdpu.core.graph;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.Task;
import io.softdpu.core.internal.access.NodeAccess;
import io.softdpu.core.internal.engine.NodeHolder;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Node of one instance: what it holds, and the state of its present or last run. Created with the
 * instance and used for each of its runs. The thread of the instance.
 */
final class NodeRun extends NodeHolder {
    private final GraphInstance instance;
    private final GraphNode node;
    private final NodeAccess<Context, Task, Job> access;
    private @Nullable Task task;
    private @Nullable Job job;
    private @Nullable Object object;
    private @Nullable GraphInstance subinstance;
    private NodeState state = NodeState.IDLE;
    private Status status = Status.SUCCESS;
    private @Nullable Refusal refusal;
    private @Nullable Throwable thrown;

    /** Parents that have not succeeded in this run. */
    private int waitingFor;

    /** An end that was not handled yet; null for none. */
    private @Nullable Status end;

    // ---- for the scheduler alone ----

    /** The next in the scheduler's list. */
    @Nullable NodeRun next;

    /** Whether its last try of a submission was refused, to be repeated. */
    boolean retries;

    NodeRun(GraphInstance instance, GraphNode node, NodeAccess<Context, Task, Job> access) {
        this.instance = instance;
        this.node = node;
        this.access = access;
    }

    GraphInstance instance() {
        return instance;
    }

    GraphNode node() {
        return node;
    }

    NodeState state() {
        return state;
    }

    Status status() {
        return status;
    }

    // ---- what it holds ----

    void setTask(Task newTask) {
        if (isSame(task, newTask)) {
            return;
        }
        access.holdTask(newTask, this);
        release();
        task = newTask;
    }

    void setJob(Job newJob) {
        if (isSame(job, newJob)) {
            return;
        }
        access.holdJob(newJob, this);
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
            access.releaseTask(task);
            task = null;
        }
        if (job != null) {
            access.releaseJob(job);
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
        if (node.callback() != null) {
            return null;
        }
        if (node.subgraph() != null) {
            return subinstance == null ? this : subinstance.firstWithoutData();
        }
        return task == null && job == null ? this : null;
    }

    GraphInstance subinstance() {
        return Objects.requireNonNull(subinstance, "checked at the submission");
    }

    // ---- the run ----

    /** Begins a run: the node waits for its parents. */
    void reset() {
        state = NodeState.WAITING;
        status = Status.IN_PROGRESS;
        waitingFor = node.parents();
        end = null;
        retries = false;
        refusal = null;
        thrown = null;
    }

    /** A parent has succeeded; whether that was the last. */
    boolean parentSucceeded() {
        return --waitingFor == 0;
    }

    void running() {
        state = NodeState.RUNNING;
    }

    void waiting() {
        state = NodeState.WAITING;
    }

    void skipped() {
        state = NodeState.SKIPPED;
        status = Status.SKIPPED;
    }

    /** Submits the task or job: null if it was accepted, else why not. */
    @Nullable Refusal submit(@Nullable WorkQueueImpl<Job> queue) {
        return queue == null
                ? access.submitTask(Objects.requireNonNull(task, "checked at the submission"))
                : access.submitJob(Objects.requireNonNull(job, "checked at the submission"), queue);
    }

    /** Runs the callback of the user. */
    Status runCallback() {
        return Objects.requireNonNull(node.callback(), "a user node").run(object);
    }

    void refused(Refusal why) {
        refusal = why;
        end = why.status();
    }

    void failed(Status how, Throwable why) {
        thrown = why;
        end = how;
    }

    /** It has ended, which is to be handled later. */
    void setEnd(Status how) {
        end = how;
    }

    boolean hasEnded() {
        return end != null;
    }

    /** Takes the end, which is handled now. */
    Status takeEnd() {
        Status ended = Objects.requireNonNull(end, "an end");
        end = null;
        status = ended;
        state = ended == Status.SUCCESS ? NodeState.COMPLETED : NodeState.FAILED;
        return ended;
    }

    /** The failure of its last run as an exception. */
    DpuException failure() {
        Throwable cause = thrown;
        if (cause == null && refusal != null) {
            cause = refusal.exception("node=" + node);
        } else if (cause == null && subinstance != null) {
            cause = subinstance.failure();
        }
        return new DpuException(
                status,
                "node has failed: node=%s, instance=%s, status=%s"
                        .formatted(node, instance, status),
                cause);
    }

    // ---- for the task or job ----

    @Override
    public void ended(Status how) {
        instance.scheduler().ended(this, how);
    }

    @Override
    public boolean isFixed() {
        return instance.isRunning() && !instance.scheduler().isRunningUserNode();
    }

    @Override
    public String describe() {
        return "node=%s, instance=%s".formatted(node, instance);
    }

    @Override
    public void misused(String what) {
        instance.graph().reportMisuse(what, instance);
    }

    @Override
    public @Nullable Throwable allocatedAt() {
        return instance.createdAt();
    }
}
