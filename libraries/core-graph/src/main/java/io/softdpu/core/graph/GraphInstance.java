package io.softdpu.core.graph;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.spi.GraphServices;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.core.spi.graph.QueueInstance;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Instance of a started {@link Graph}: the tasks or jobs of its nodes, and the state of its run.
 * Created by {@link Graph#createInstance}, set up once, and submitted as often as needed.
 *
 * <p>An instance holds its tasks, jobs and instances of sub-graphs until it is closed or they are
 * replaced: they are submitted by it alone, and freeing or closing one is IN_USE. Their operands
 * may be changed while the instance is not in flight, and by user nodes while it is. Between two
 * runs the destinations need room again: {@link io.softdpu.core.memory.Buf#resetDataLength()}.
 *
 * <p>The nodes without parents start at submission, in the order in which they were added: user
 * nodes among them run inside that call. What follows them starts in progress or a retrieval. After
 * the first failure no further node starts, those that run are awaited, and the others are SKIPPED.
 * A run cannot be aborted; a context that stops flushes its tasks, and so fails the instance.
 *
 * <p>A task that fails as a node does to its context what it does alone: with most libraries the
 * context stops, and other instances with tasks of it fail. To go on, close the instances, free the
 * tasks, stop and start the context, and allocate anew. A task that its library refuses at the
 * submission fails its node alone, and a job fails alone.
 *
 * <p>Thread: that of the graph's engine, else one at a time; while the instance is in flight, that
 * of the queue.
 */
public final class GraphInstance implements AutoCloseable {
    private static final Refusal IN_FLIGHT =
            Refusal.ready(
                    Status.IN_USE,
                    () -> "instance is in flight: owner=library, expected=its end first");

    private final Graph graph;
    private final int number;
    private final NodeRun[] runs;
    private final NodeRun[] roots;
    private final NodeRun[] failed;
    private final Retrieval retrieval = new Retrieval();
    private final LibraryObject creation;
    private int failedCount;

    /** Nodes that are in the scheduler's list, or run. */
    private int active;

    /** The node of another instance that holds this one; null if the user has it. */
    private @Nullable NodeRun holder;

    private @Nullable Scheduler scheduler;
    private @Nullable GraphQueue queue;

    /** From the submission to the callback or retrieval; of one that a node holds, to its end. */
    private boolean inFlight;

    private Status outcome = Status.SUCCESS;
    private @Nullable Refusal refusal;
    private long userData;
    private boolean closed;

    /** The next in the queue's list of those to be retrieved. */
    @Nullable GraphInstance nextEnded;

    GraphInstance(Graph graph, int number, List<GraphNode> nodes, LibraryObject creation) {
        this.graph = graph;
        this.number = number;
        this.runs = new NodeRun[nodes.size()];
        for (int i = 0; i < runs.length; i++) {
            runs[i] = new NodeRun(this, nodes.get(i));
        }
        for (NodeRun run : runs) {
            run.link(runs);
        }
        this.roots =
                Arrays.stream(runs)
                        .filter(run -> run.node().parents() == 0)
                        .toArray(NodeRun[]::new);
        this.failed = new NodeRun[runs.length];
        this.creation = creation;
    }

    /** Its graph. */
    public Graph graph() {
        return graph;
    }

    // ---- what its nodes run ----

    /**
     * Sets the task of a context node, for a graph on an engine.
     *
     * @param node a context node of the graph
     * @param task a task of the node's context, allocated and not in flight
     * @throws DpuException INVALID_VALUE if the node is of another graph, or the task is not one of
     *     this library; NOT_PERMITTED if the node is no context node, the task is of another
     *     context, or the graph is for work queues; IN_USE if the task is in flight or an instance
     *     holds it; BAD_STATE if the task was freed, or this instance is in flight or closed
     */
    public GraphInstance setTask(GraphNode node, Task task) {
        NodeRun run = changeable(node);
        Arguments.notNull(task, "task");
        requireKind(node, node.context() != null, "task");
        if (!graph.isOnEngine()) {
            throw notPermitted("node of a graph for work queues takes a job", node, "task", task);
        }
        if (!isSame(task.context(), node.context())) {
            throw notPermitted("task is not one of the node's context", node, "task", task);
        }
        run.setTask(task);
        return this;
    }

    /**
     * Sets the job of a context node, for a graph on work queues.
     *
     * @param node a context node of the graph
     * @param job a job of the node's context and type, not in flight
     * @throws DpuException INVALID_VALUE if the node is of another graph, or the job is not one of
     *     this library; NOT_PERMITTED if the node is no context node, the job is of another context
     *     or type, or the graph is for an engine; IN_USE if the job is in flight or an instance
     *     holds it; BAD_STATE if this instance is in flight or closed
     */
    public GraphInstance setJob(GraphNode node, Job job) {
        NodeRun run = changeable(node);
        Arguments.notNull(job, "job");
        requireKind(node, node.context() != null, "job");
        if (graph.isOnEngine()) {
            throw notPermitted("node of a graph for an engine takes a task", node, "job", job);
        }
        if (!isSame(job.context(), node.context()) || !Objects.equals(job.type(), node.type())) {
            throw notPermitted("job is not one of the node's context and type", node, "job", job);
        }
        run.setJob(job);
        return this;
    }

    /**
     * Sets the object with which the callback of a user node is called; null, as at first, for
     * none.
     *
     * @throws DpuException INVALID_VALUE if the node is of another graph; NOT_PERMITTED if it is no
     *     user node; BAD_STATE if this instance is in flight or closed
     */
    public GraphInstance setObject(GraphNode node, @Nullable Object object) {
        NodeRun run = changeable(node);
        requireKind(node, node.callback() != null, "object");
        run.setObject(object);
        return this;
    }

    /**
     * Sets the instance that a sub-graph node runs. It has no callback and no event of its own
     * then.
     *
     * @throws DpuException INVALID_VALUE if the node is of another graph; NOT_PERMITTED if it is no
     *     sub-graph node, or the instance is of another graph than the node's; IN_USE if the
     *     instance is in flight or another holds it; BAD_STATE if either is closed, or this one in
     *     flight
     */
    public GraphInstance setInstance(GraphNode node, GraphInstance instance) {
        NodeRun run = changeable(node);
        Arguments.notNull(instance, "instance");
        requireKind(node, node.subgraph() != null, "instance");
        if (!isSame(instance.graph, node.subgraph())) {
            throw notPermitted(
                    "instance is not one of the node's graph", node, "instance", instance);
        }
        run.setSubinstance(instance);
        return this;
    }

    /** The node's run, in an instance that may be changed. */
    private NodeRun changeable(GraphNode node) {
        graph.requireOwner();
        NodeRun run = run(node);
        requireOpen();
        if (isRunning()) {
            throw inFlight(Status.BAD_STATE);
        }
        return run;
    }

    private void requireKind(GraphNode node, boolean fits, String data) {
        if (!fits) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "node is of another kind: node=%s, graph=%s, data=%s",
                            node, graph, data));
        }
    }

    private DpuException notPermitted(String reason, GraphNode node, String what, Object actual) {
        String text =
                actual instanceof Task task
                        ? task.getClass().getSimpleName() + " of " + task.context()
                        : actual.toString();
        return new DpuException(
                Status.NOT_PERMITTED,
                Text.format("%s: node=%s, graph=%s, %s=%s", reason, node, graph, what, text));
    }

    // ---- submission ----

    /**
     * Submits the instance to the engine of its graph.
     *
     * @throws DpuException with the status that {@link #trySubmit()} would have returned, and the
     *     reason: the {@link #refusal()}
     */
    public void submit() {
        if (trySubmit() != Status.SUCCESS) {
            throw Objects.requireNonNull(refusal(), "refused");
        }
    }

    /**
     * Submits the instance to the engine of its graph; never throws in normal operation. Nodes
     * without parents start now: tasks are submitted, and user nodes run, inside this call.
     *
     * @return SUCCESS; IN_USE if the instance is in flight or another holds it; BAD_STATE if it is
     *     closed, a node has nothing to run, or the graph is for work queues. {@link #refusal()}
     *     gives the reason
     * @throws DpuException NOT_PERMITTED from another thread
     */
    public Status trySubmit() {
        graph.requireOwner();
        Refusal refused = notReady();
        EngineGraph member = graph.engineGraph();
        if (refused == null && member == null) {
            refused =
                    Refusal.of(
                            Status.BAD_STATE,
                            "graph is for work queues: graph=%s, expected=a submission to one",
                            graph);
        }
        if (refused == null) {
            inFlight = true;
            Objects.requireNonNull(member, "on an engine").submit(this);
        }
        return keep(refused);
    }

    /**
     * Submits the instance to a work queue.
     *
     * @throws DpuException with the status that {@link #trySubmit(WorkQueue)} would have returned,
     *     and the reason: the {@link #refusal()}
     */
    public void submit(WorkQueue to) {
        if (trySubmit(to) != Status.SUCCESS) {
            throw Objects.requireNonNull(refusal(), "refused");
        }
    }

    /**
     * Submits the instance to a work queue (doca_workq_graph_submit); never throws in normal
     * operation. It takes a place of the queue, and one for each context node, those of sub-graphs
     * included. Nodes without parents start now: jobs are submitted, and user nodes run, inside
     * this call.
     *
     * @return SUCCESS; NO_MEMORY if the queue has less places left: nothing was started; NOT_FOUND
     *     if the graph was not added to the queue; IN_USE if the instance is in flight or another
     *     holds it; BAD_STATE if it is closed, or a node has nothing to run. {@link #refusal()}
     *     gives the reason
     * @throws DpuException INVALID_VALUE if the queue is null; NOT_PERMITTED from another thread
     *     than the queue's; BAD_STATE if the queue is closed
     */
    public Status trySubmit(WorkQueue to) {
        GraphQueue impl = GraphServices.queue(Arguments.notNull(to, "to"));
        impl.requireUsable();
        Refusal refused = notReady();
        if (refused == null) {
            refused = submission(impl);
        }
        return keep(refused);
    }

    private @Nullable Refusal submission(GraphQueue to) {
        if (!(to.graphs() instanceof GraphsOfQueue graphs) || !graphs.contains(graph)) {
            return Refusal.of(
                    Status.NOT_FOUND,
                    "graph was not added to the queue: graph=%s, queueThread=%s,"
                            + " expected=Graph.addTo",
                    graph,
                    Threads.describe(to.owner()));
        }
        if (!to.reserve(graph.places())) {
            return graph.tooFewPlaces();
        }
        queue = to;
        inFlight = true;
        graphs.submit(this);
        return null;
    }

    /** Why the instance cannot be submitted anywhere; null if it can. */
    private @Nullable Refusal notReady() {
        if (closed) {
            return Refusal.of(Status.BAD_STATE, "instance is closed: expected=one that is open");
        }
        if (inFlight) {
            return IN_FLIGHT;
        }
        if (holder != null) {
            return Refusal.of(
                    Status.IN_USE,
                    "a node of another instance holds it: %s, expected=a submission of that",
                    holder.describe());
        }
        NodeRun missing = firstWithoutData();
        return missing == null
                ? null
                : Refusal.of(
                        Status.BAD_STATE,
                        "node has nothing to run: node=%s, expected=%s",
                        missing.node(),
                        missing.node().subgraph() == null
                                ? "GraphInstance.setTask or setJob"
                                : "GraphInstance.setInstance");
    }

    @SuppressWarnings("ReferenceEquality") // usually null again, and a comparison costs less
    private Status keep(@Nullable Refusal refused) {
        if (refusal != refused) {
            refusal = refused;
        }
        return Refusal.statusOf(refused);
    }

    /**
     * The reason of the last submission if that was refused, else null. The exception is created by
     * this call.
     */
    public @Nullable DpuException refusal() {
        return refusal == null ? null : refusal.exception("instance=" + this);
    }

    // ---- its run ----

    /** Whether it is submitted and its end not yet reported: by callback, or by retrieval. */
    public boolean isInFlight() {
        return inFlight;
    }

    /**
     * The result of the last run: SUCCESS, or the status of the first node that has failed;
     * IN_PROGRESS while the instance is in flight, and SUCCESS before it was ever submitted;
     * SKIPPED if it is part of another whose last run has not started it.
     */
    public Status status() {
        return inFlight ? Status.IN_PROGRESS : outcome;
    }

    /**
     * The state of a node; during the run too.
     *
     * @throws DpuException INVALID_VALUE if the node is of another graph; NOT_PERMITTED from
     *     another thread than that of the graph's engine
     */
    public NodeState state(GraphNode node) {
        graph.requireOwner();
        return run(node).state();
    }

    /**
     * The status of a node; during the run too.
     *
     * @return IN_PROGRESS while it waits or runs, SUCCESS, its failure, or SKIPPED if it has never
     *     started
     * @throws DpuException INVALID_VALUE if the node is of another graph; NOT_PERMITTED from
     *     another thread than that of the graph's engine
     */
    public Status status(GraphNode node) {
        graph.requireOwner();
        return run(node).status();
    }

    /** The node that has failed first in the present or last run; null if none has. */
    public @Nullable GraphNode firstFailure() {
        return failedCount == 0 ? null : failed[0].node();
    }

    /**
     * The failure of that node, created now; null if none has failed. Its cause is the reason: that
     * of a refused submission, what a user node has thrown, the failure of a sub-graph, or that of
     * the context that a failed task has stopped. A job that fails alone has no more than its
     * status.
     */
    public @Nullable DpuException failure() {
        return failedCount == 0 ? null : failed[0].failure();
    }

    /** Number of nodes that have failed in the present or last run. */
    public int failures() {
        return failedCount;
    }

    /** The nodes that have failed in the present or last run, the first of them first. */
    public List<GraphNode> failedNodes() {
        List<GraphNode> nodes = new ArrayList<>(failedCount);
        for (int i = 0; i < failedCount; i++) {
            nodes.add(failed[i].node());
        }
        return nodes;
    }

    /** The number that the user has attached; 0 at first. */
    public long userData() {
        return userData;
    }

    /**
     * Attaches a number, which the event of the instance has.
     *
     * @throws DpuException BAD_STATE if the instance is in flight or closed
     */
    public GraphInstance setUserData(long userData) {
        graph.requireOwner();
        requireOpen();
        if (inFlight) {
            throw inFlight(Status.BAD_STATE);
        }
        this.userData = userData;
        return this;
    }

    /**
     * Returns its tasks, jobs and instances to the user, and ends it; idempotent.
     *
     * @throws DpuException IN_USE if it is in flight, or another instance holds it; NOT_PERMITTED
     *     from another thread than that of the graph's engine
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        graph.requireOwner();
        if (isRunning()) {
            throw inFlight(Status.IN_USE);
        }
        if (holder != null) {
            throw heldByNode(holder);
        }
        closed = true;
        for (NodeRun run : runs) {
            run.release();
        }
        graph.closed(this);
    }

    /** Its number and its graph, for messages. */
    @Override
    public String toString() {
        return "instance " + number + " of " + graph;
    }

    private DpuException inFlight(Status status) {
        return new DpuException(
                status,
                Text.format("instance is in flight: instance=%s, expected=its end first", this),
                createdAt());
    }

    private void requireOpen() {
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "instance is closed: instance=%s, expected=one that is open", this));
        }
    }

    private static DpuException heldByNode(NodeRun by) {
        return new DpuException(
                Status.IN_USE,
                Text.format(
                        "a node of another instance holds it: %s, expected=close of that first",
                        by.describe()),
                by.allocatedAt());
    }

    private NodeRun run(GraphNode node) {
        if (!isSame(Arguments.notNull(node, "node").graph(), graph)
                || node.index() >= runs.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "node is not one of the instance's graph: node=%s, nodeGraph=%s,"
                                    + " graph=%s",
                            node, node.graph(), graph));
        }
        return runs[node.index()];
    }

    @SuppressWarnings("ReferenceEquality") // contexts and graphs are compared by identity
    private static boolean isSame(@Nullable Object one, @Nullable Object other) {
        return one == other;
    }

    // ---- for nodes of other instances ----

    /** Gives the instance to a node of another. */
    void holdFor(NodeRun newHolder) {
        requireOpen();
        if (inFlight) {
            throw inFlight(Status.IN_USE);
        }
        if (holder != null) {
            throw heldByNode(holder);
        }
        holder = newHolder;
    }

    void releaseFromNode() {
        holder = null;
    }

    @Nullable NodeRun holder() {
        return holder;
    }

    @Nullable NodeRun firstWithoutData() {
        for (NodeRun run : runs) {
            NodeRun missing = run.firstWithoutData();
            if (missing != null) {
                return missing;
            }
        }
        return null;
    }

    // ---- for the scheduler ----

    NodeRun[] roots() {
        return roots;
    }

    /** Begins a run: no node has started. */
    @SuppressWarnings("ReferenceEquality") // usually the same, and a comparison costs less
    void begin(Scheduler by) {
        if (scheduler != by) {
            scheduler = by;
        }
        inFlight = true;
        active = 0;
        if (outcome != Status.SUCCESS) {
            failedCount = 0;
            outcome = Status.SUCCESS;
        }
        for (NodeRun run : runs) {
            run.reset();
        }
    }

    /** The scheduler of the present or last run. */
    Scheduler scheduler() {
        return Objects.requireNonNull(scheduler, "submitted");
    }

    /** A node was put into the list, or started. */
    void activated() {
        active++;
    }

    /** A node has ended or was skipped; whether it was the last. */
    boolean deactivated() {
        return --active == 0;
    }

    boolean hasFailed() {
        return failedCount > 0;
    }

    void failed(NodeRun run, Status how) {
        if (failedCount == 0) {
            outcome = how;
        }
        failed[failedCount++] = run;
    }

    /** The last node has ended: those that have not started never will. */
    void ended() {
        if (failedCount > 0) {
            for (NodeRun run : runs) {
                run.skipIfWaiting();
            }
        }
        if (holder != null) {
            inFlight = false;
        }
    }

    Status outcome() {
        return outcome;
    }

    void returnToUser() {
        inFlight = false;
    }

    /** Skips all nodes, since the node of another instance that holds this one was skipped. */
    void skip() {
        failedCount = 0;
        outcome = Status.SKIPPED;
        for (NodeRun run : runs) {
            run.reset();
            run.skipIfWaiting();
        }
    }

    /** Whether it was ever submitted, or ran as a part of another. */
    boolean hasRun() {
        return inFlight || scheduler != null;
    }

    /** Whether it, or the instance that it is part of, is in flight. */
    boolean isRunning() {
        return top().inFlight;
    }

    /**
     * Whether its tasks and jobs must not be changed: in flight, and no user node runs. A part that
     * has not begun has no scheduler yet, or that of an earlier run, so that of the whole counts.
     */
    boolean isFixed() {
        GraphInstance top = top();
        return top.inFlight && !top.scheduler().isRunningUserNode();
    }

    private GraphInstance top() {
        GraphInstance top = this;
        while (top.holder != null) {
            top = top.holder.instance();
        }
        return top;
    }

    /** Whether it is in flight on this queue, and not as a part of another. */
    @SuppressWarnings("ReferenceEquality") // queues are compared by identity
    boolean isInFlightOn(GraphQueue other) {
        return inFlight && holder == null && queue == other;
    }

    @Nullable Throwable createdAt() {
        return creation.createdAt();
    }

    void reportLeak() {
        creation.instanceLeaked("instance was not closed before the end: instance=" + this);
    }

    void reportMisuse(String what) {
        creation.taskMisused(what + ", instance=" + this);
    }

    QueueInstance retrieval() {
        return retrieval;
    }

    /** The end of the instance as its work queue reports it. */
    private final class Retrieval implements QueueInstance {
        @Override
        public Status status() {
            return outcome;
        }

        @Override
        public long userData() {
            return userData;
        }

        @Override
        public Object instance() {
            return GraphInstance.this;
        }

        @Override
        public void retrieved() {
            Objects.requireNonNull(queue, "submitted to a queue").release(graph.places());
            inFlight = false;
        }
    }
}
