package io.softdpu.core.graph;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.CallName;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.spi.GraphServices;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.core.spi.graph.GraphEngine;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Graph of tasks or jobs, callbacks and further graphs, which run in the order that its
 * dependencies demand (Core guide, section 3.4.7).
 *
 * <p>The order is: create, {@linkplain #addContextNode(Context, JobType) add nodes}, {@linkplain
 * #addDependency add dependencies}, {@linkplain #start start}, {@linkplain #addTo add to work
 * queues}, {@linkplain #createInstance create instances}, set what their nodes run, {@linkplain
 * GraphInstance#submit submit} them. After start a graph cannot be changed. A stopped graph can be
 * changed and started again.
 *
 * <p>A node without parents is a root: all roots start when an instance is submitted, user nodes
 * among them inside that call. Any other starts when all of its parents have succeeded. The
 * instance ends when all nodes have ended.
 *
 * <p>A graph is either for work queues or for one progress engine, which has all of its contexts.
 * On an engine the callbacks of a task are not called while it runs in a graph; the end of an
 * instance is reported by {@linkplain #setCallbacks callbacks} of the graph. On a queue it is
 * retrieved.
 *
 * <p>Thread: a graph for an engine belongs to the thread of that, and a call from another fails
 * with NOT_PERMITTED. A graph for work queues may be used by any.
 */
public final class Graph implements AutoCloseable {
    /** Limit of instances unless another was set. */
    public static final int DEFAULT_MAX_INSTANCES = 16;

    /** Limit of {@link #setMaxInstances}, more than any program needs. */
    public static final int MAX_INSTANCES = 1 << 20;

    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    private final String name = "graph #" + LAST_NUMBER.incrementAndGet();
    private final @Nullable GraphEngine engine;
    private final LibraryObject creation;

    /** Lock of all that is not final: a graph for work queues may be used by any thread. */
    private final Object lock = new Object();

    private final List<GraphNode> nodes = new ArrayList<>();
    private final Set<GraphInstance> instances = new LinkedHashSet<>();
    private final List<GraphsOfQueue> queues = new ArrayList<>();
    private int maxInstances = DEFAULT_MAX_INSTANCES;
    private @Nullable GraphCallback succeeded;
    private @Nullable GraphCallback failed;
    private boolean closed;
    private int createdInstances;

    /** Nodes of other graphs, which are started, that run this one. */
    private int supergraphs;

    private volatile boolean started;

    // What a started graph uses; set by start, before the first instance is created.
    private Set<Context> contexts = Set.of();
    private int places;
    private Refusal tooFewPlaces = tooFewPlacesFor(0);
    private @Nullable EngineGraph engineGraph;

    private Graph(@Nullable GraphEngine engine, LibraryObject creation) {
        this.engine = engine;
        this.creation = creation;
    }

    /** Creates a graph for work queues, without nodes. */
    public static Graph create() {
        return new Graph(null, LibraryObject.create());
    }

    /**
     * Creates a graph for a progress engine, without nodes.
     *
     * @throws DpuException NOT_PERMITTED from another thread than the engine's; BAD_STATE if the
     *     engine is closed
     */
    public static Graph create(ProgressEngine engine) {
        GraphEngine driving = GraphServices.engine(Arguments.notNull(engine, "engine"));
        driving.requireOwner();
        driving.requireOpen();
        return new Graph(driving, LibraryObject.create(engine));
    }

    // ---- nodes and dependencies ----

    /**
     * Adds a node that runs a job, for a graph on work queues.
     *
     * @param context the context of its jobs
     * @param type the type of its jobs
     * @throws DpuException NOT_PERMITTED if the graph is for an engine; BAD_STATE if it is started
     *     or closed
     */
    public GraphNode addContextNode(Context context, JobType type) {
        requireOwner();
        Arguments.notNull(context, "context");
        Arguments.notNull(type, "type");
        if (engine != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "graph is for an engine, which has tasks: graph=%s, type=%s, expected=a"
                                    + " node without a type of jobs",
                            this, type));
        }
        synchronized (lock) {
            requireConfigurable();
            return added(GraphNode.ofContext(this, nodes.size(), context, type));
        }
    }

    /**
     * Adds a node that runs a task, for a graph on an engine.
     *
     * @param context the context of its tasks
     * @throws DpuException NOT_PERMITTED if the graph is for work queues; BAD_STATE if it is
     *     started or closed
     */
    public GraphNode addContextNode(Context context) {
        requireOwner();
        Arguments.notNull(context, "context");
        if (engine == null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "graph is for work queues, which have jobs: graph=%s, context=%s,"
                                    + " expected=a node with a type of jobs",
                            this, context));
        }
        synchronized (lock) {
            requireConfigurable();
            return added(GraphNode.ofContext(this, nodes.size(), context, null));
        }
    }

    /**
     * Adds a node that runs a callback of the user.
     *
     * @throws DpuException BAD_STATE if the graph is started or closed
     */
    public GraphNode addUserNode(UserNodeCallback callback) {
        requireOwner();
        Arguments.notNull(callback, "callback");
        synchronized (lock) {
            requireConfigurable();
            return added(GraphNode.ofUser(this, nodes.size(), callback));
        }
    }

    /**
     * Adds a node that runs an instance of another graph, which cannot be stopped while this one is
     * started.
     *
     * @param subgraph a graph that is started, for the same engine, or for work queues like this
     * @throws DpuException NOT_PERMITTED if it is this graph, or not for the same; BAD_STATE if it
     *     is not started, or this graph is started or closed
     */
    public GraphNode addSubgraphNode(Graph subgraph) {
        requireOwner();
        Arguments.notNull(subgraph, "subgraph");
        if (isSame(subgraph, this)) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "graph cannot contain itself: graph=%s, subgraph=%s", this, subgraph));
        }
        if (!isSame(subgraph.engine, engine)) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "sub-graph is for something else: subgraph=%s, for=%s, graph=%s,"
                                    + " for=%s",
                            subgraph, subgraph.purpose(), this, purpose()));
        }
        synchronized (lock) {
            requireConfigurable();
            subgraph.requireStartedFor(this);
            return added(GraphNode.ofSubgraph(this, nodes.size(), subgraph));
        }
    }

    private GraphNode added(GraphNode node) {
        nodes.add(node);
        return node;
    }

    private void addSupergraph(Graph user) {
        synchronized (lock) {
            requireStartedFor(user);
            supergraphs++;
        }
    }

    private void requireStartedFor(Graph user) {
        synchronized (lock) {
            if (!started) {
                throw new DpuException(
                        Status.BAD_STATE,
                        Text.format(
                                "sub-graph is not started: subgraph=%s, graph=%s,"
                                        + " expected=Graph.start first",
                                this, user));
            }
        }
    }

    /**
     * Adds a dependency: the child starts when this parent, and all its others, have succeeded.
     *
     * @throws DpuException NOT_PERMITTED if the dependency would close a cycle, naming the path;
     *     INVALID_VALUE if a node is of another graph; ALREADY_EXIST if there is this dependency;
     *     BAD_STATE if the graph is started or closed. Nothing has changed then
     */
    public Graph addDependency(GraphNode parent, GraphNode child) {
        requireOwner();
        requireOwn(parent, "parent");
        requireOwn(child, "child");
        synchronized (lock) {
            requireConfigurable();
            if (parent.children().contains(child)) {
                throw new DpuException(
                        Status.ALREADY_EXIST,
                        Text.format(
                                "dependency exists: graph=%s, parent=%s, child=%s",
                                this, parent, child));
            }
            List<GraphNode> path = path(child, parent);
            if (!path.isEmpty()) {
                throw new DpuException(
                        Status.NOT_PERMITTED,
                        Text.format(
                                "dependency would close a cycle: graph=%s, path=%s -> %s",
                                this,
                                parent,
                                String.join(
                                        " -> ", path.stream().map(GraphNode::toString).toList())));
            }
            parent.addChild(child);
            return this;
        }
    }

    private void requireOwn(GraphNode node, String argument) {
        if (!isSame(Arguments.notNull(node, argument).graph(), this)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "node is of another graph: argument=%s, node=%s, nodeGraph=%s,"
                                    + " graph=%s",
                            argument, node, node.graph(), this));
        }
    }

    /** The nodes of a path along dependencies, both ends included; empty if there is none. */
    private List<GraphNode> path(GraphNode from, GraphNode to) {
        @Nullable GraphNode[] reachedFrom = new @Nullable GraphNode[nodes.size()];
        boolean[] reached = new boolean[nodes.size()];
        List<GraphNode> open = new ArrayList<>(List.of(from));
        reached[from.index()] = true;
        for (int i = 0; i < open.size(); i++) {
            for (GraphNode child : open.get(i).children()) {
                if (!reached[child.index()]) {
                    reached[child.index()] = true;
                    reachedFrom[child.index()] = open.get(i);
                    open.add(child);
                }
            }
        }
        List<GraphNode> path = new ArrayList<>();
        GraphNode step = reached[to.index()] ? to : null;
        while (step != null) {
            path.addFirst(step);
            step = reachedFrom[step.index()];
        }
        return path;
    }

    // ---- configuration ----

    /**
     * Sets the limit of instances; {@link #DEFAULT_MAX_INSTANCES} by default.
     *
     * @param instances 1 to {@link #MAX_INSTANCES}
     * @throws DpuException INVALID_VALUE if it is out of range; BAD_STATE if the graph is started
     *     or closed
     */
    public Graph setMaxInstances(int instances) {
        requireOwner();
        if (instances < 1 || instances > MAX_INSTANCES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "limit of instances out of range: graph=%s, instances=%d, expected=1 to"
                                    + " %d",
                            this, instances, MAX_INSTANCES));
        }
        synchronized (lock) {
            requireConfigurable();
            maxInstances = instances;
        }
        return this;
    }

    /**
     * Sets the callbacks for the end of an instance on an engine; without them only its {@linkplain
     * GraphInstance#isInFlight state} shows the end. They are not called for an instance that a
     * node of another graph runs.
     *
     * @param success called for an instance all of whose nodes have succeeded
     * @param failure called for one with a node that has failed
     * @throws DpuException NOT_PERMITTED if the graph is for work queues, where the end is
     *     retrieved; BAD_STATE if it is started or closed
     */
    public Graph setCallbacks(GraphCallback success, GraphCallback failure) {
        requireOwner();
        Arguments.notNull(success, "success");
        Arguments.notNull(failure, "failure");
        if (engine == null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "graph is for work queues, which have no callbacks: graph=%s,"
                                    + " expected=WorkQueue.progressRetrieve",
                            this));
        }
        synchronized (lock) {
            requireConfigurable();
            succeeded = success;
            failed = failure;
        }
        return this;
    }

    // ---- start and stop ----

    /**
     * Starts the graph: nodes and dependencies cannot be changed any more, and instances can be
     * created.
     *
     * @throws DpuException BAD_STATE if it has no context node, directly or in a sub-graph, if a
     *     context is not RUNNING, or not on the graph's engine, or on no work queue, or a sub-graph
     *     is not started, naming it, or if the graph is started or closed, or its engine closed
     */
    public Graph start() {
        requireOwner();
        synchronized (lock) {
            requireConfigurable();
            if (engine != null && engine.isClosed()) {
                throw new DpuException(
                        Status.BAD_STATE,
                        Text.format(
                                "engine of the graph is closed: graph=%s, engineThread=%s,"
                                        + " expected=an engine that is open",
                                this, Threads.describe(engine.owner())));
            }
            List<Graph> held = new ArrayList<>();
            try {
                for (GraphNode node : nodes) {
                    if (node.subgraph() != null) {
                        node.subgraph().addSupergraph(this);
                        held.add(node.subgraph());
                    }
                }
                begin();
            } finally {
                if (!started) {
                    held.forEach(Graph::removeSupergraph);
                }
            }
        }
        return this;
    }

    private void begin() {
        Set<Context> used = Collections.newSetFromMap(new IdentityHashMap<>());
        int contextNodes = 0;
        for (GraphNode node : nodes) {
            if (node.context() != null) {
                used.add(node.context());
                contextNodes++;
            } else if (node.subgraph() != null) {
                used.addAll(node.subgraph().contexts);
                contextNodes += node.subgraph().places - 1;
            }
        }
        if (contextNodes == 0) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "graph has no context node: graph=%s, nodes=%d, contextNodes=0,"
                                    + " expected=one, directly or in a sub-graph",
                            this, nodes.size()));
        }
        used.forEach(this::requireDriven);
        nodes.forEach(GraphNode::start);
        contexts = used;
        places = contextNodes + 1;
        tooFewPlaces = tooFewPlacesFor(places);
        if (engine != null) {
            engineGraph = new EngineGraph(this, engine);
            engine.connect(engineGraph);
        }
        started = true;
    }

    /** Refuses a context that is not started, or that nothing of this graph drives. */
    private void requireDriven(Context context) {
        if (context.state() != ContextState.RUNNING) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "context of a node is not running: graph=%s, context=%s, state=%s,"
                                    + " expected=%s",
                            this, context, context.state(), ContextState.RUNNING));
        }
        GraphEngine connectedTo = GraphServices.engineOf(context);
        if (engine != null && !isSame(connectedTo, engine)) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "context of a node is not on the engine of the graph: graph=%s,"
                                    + " context=%s, expected=ProgressEngine.connect",
                            this, context));
        }
        if (engine == null && !GraphServices.isOnWorkQueue(context)) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "context of a node is on no work queue: graph=%s, context=%s,"
                                    + " expected=WorkQueue.add",
                            this, context));
        }
    }

    /** Whether it is started. */
    public boolean isStarted() {
        return started;
    }

    /**
     * Stops the graph, so that it can be changed, or closed; does nothing if it is not started.
     * Closes the instances that have never run: a setter that throws leaves one that its program
     * cannot close.
     *
     * @throws DpuException IN_USE while it has instances that have run, under the sanitizer with
     *     the place of the creation of one as its cause, or a graph that is started has it as a
     *     sub-graph; NOT_PERMITTED while it is on work queues: {@linkplain #removeFrom remove} it
     *     first
     */
    public void stop() {
        requireOwner();
        synchronized (lock) {
            if (!started) {
                return;
            }
            List<GraphInstance> used = instances.stream().filter(GraphInstance::hasRun).toList();
            if (!used.isEmpty()) {
                throw hasInstances(used);
            }
            if (supergraphs > 0) {
                throw new DpuException(
                        Status.IN_USE,
                        Text.format(
                                "graph is a sub-graph of others: graph=%s, nodes=%d, expected=stop"
                                        + " of those first",
                                this, supergraphs));
            }
            if (!queues.isEmpty()) {
                throw new DpuException(
                        Status.NOT_PERMITTED,
                        Text.format(
                                "graph is on work queues: graph=%s, queues=%d,"
                                        + " expected=Graph.removeFrom",
                                this, queues.size()));
            }
            List.copyOf(instances).forEach(GraphInstance::close);
            if (engine != null && engineGraph != null) {
                engine.disconnect(engineGraph);
                engineGraph = null;
            }
            started = false;
            for (GraphNode node : nodes) {
                if (node.subgraph() != null) {
                    node.subgraph().removeSupergraph();
                }
            }
        }
    }

    private DpuException hasInstances(List<GraphInstance> used) {
        GraphInstance first = used.getFirst();
        used.forEach(GraphInstance::reportLeak);
        return new DpuException(
                Status.IN_USE,
                Text.format(
                        "graph has instances: graph=%s, instances=%d, first=%s, expected=close of"
                                + " each",
                        this, used.size(), first),
                first.createdAt());
    }

    // ---- work queues ----

    /**
     * Adds the graph to a work queue (doca_graph_workq_add), on the thread of that. Its contexts
     * stay on the queue while the graph is.
     *
     * @throws DpuException BAD_STATE if a context of its nodes is not on the queue, naming it, or
     *     the graph is not started, or the queue closed; IN_USE if it is on the queue already;
     *     NOT_PERMITTED if it is for an engine, or from another thread than the queue's
     */
    public Graph addTo(WorkQueue queue) {
        GraphQueue impl = usable(queue);
        if (engine != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "graph is for an engine: graph=%s, queueThread=%s,"
                                    + " expected=Graph.create without one",
                            this, Threads.describe(impl.owner())));
        }
        synchronized (lock) {
            requireStarted("addTo");
            GraphsOfQueue there = GraphsOfQueue.of(impl);
            if (there.contains(this)) {
                throw new DpuException(
                        Status.IN_USE,
                        Text.format(
                                "graph is on the queue already: graph=%s, queueThread=%s",
                                this, Threads.describe(impl.owner())));
            }
            for (Context context : contexts) {
                if (!impl.hasContext(context)) {
                    throw new DpuException(
                            Status.BAD_STATE,
                            Text.format(
                                    "context of a node is not on the queue: graph=%s, context=%s,"
                                            + " queueThread=%s, expected=WorkQueue.add",
                                    this, context, Threads.describe(impl.owner())));
                }
            }
            there.add(this);
            queues.add(there);
        }
        return this;
    }

    /**
     * Removes the graph from a work queue, on the thread of that.
     *
     * @throws DpuException NOT_FOUND if it is not on the queue; NOT_PERMITTED while an instance is
     *     in flight there, or from another thread than the queue's
     */
    public Graph removeFrom(WorkQueue queue) {
        GraphQueue impl = usable(queue);
        synchronized (lock) {
            if (!(impl.graphs() instanceof GraphsOfQueue there) || !there.contains(this)) {
                throw new DpuException(
                        Status.NOT_FOUND,
                        Text.format(
                                "graph is not on the queue: graph=%s, queueThread=%s,"
                                        + " expected=Graph.addTo",
                                this, Threads.describe(impl.owner())));
            }
            for (GraphInstance instance : instances) {
                if (instance.isInFlightOn(impl)) {
                    throw new DpuException(
                            Status.NOT_PERMITTED,
                            Text.format(
                                    "instance is in flight on the queue: instance=%s,"
                                            + " queueThread=%s, expected=its retrieval first",
                                    instance, Threads.describe(impl.owner())));
                }
            }
            there.remove(this);
            queues.remove(there);
        }
        return this;
    }

    /** The queue is being closed and has no instance in flight. */
    void removedFrom(GraphsOfQueue there) {
        synchronized (lock) {
            queues.remove(there);
        }
    }

    private static GraphQueue usable(WorkQueue queue) {
        GraphQueue impl = GraphServices.queue(Arguments.notNull(queue, "queue"));
        impl.requireUsable();
        return impl;
    }

    // ---- instances ----

    /**
     * Creates an instance (doca_graph_instance_create). It belongs to the user, who closes it; one
     * that has never run ends with the graph's {@link #stop} too.
     *
     * @throws DpuException BAD_STATE if the graph is not started; NO_MEMORY if it has as many
     *     instances as configured
     */
    public GraphInstance createInstance() {
        requireOwner();
        synchronized (lock) {
            requireStarted("createInstance");
            if (instances.size() >= maxInstances) {
                throw new DpuException(
                        Status.NO_MEMORY,
                        Text.format(
                                "graph has all its instances: graph=%s, instances=%d,"
                                        + " expected=close of one, or a larger count in"
                                        + " setMaxInstances",
                                this, instances.size()),
                        instances.iterator().next().createdAt());
            }
            GraphInstance created =
                    new GraphInstance(this, createdInstances++, nodes, creation.part());
            instances.add(created);
            return created;
        }
    }

    /** Number of instances that are not closed. */
    public int instances() {
        synchronized (lock) {
            return instances.size();
        }
    }

    void closed(GraphInstance instance) {
        synchronized (lock) {
            instances.remove(instance);
        }
    }

    /**
     * Stops the graph and closes it; idempotent.
     *
     * @throws DpuException as {@link #stop()}
     */
    @Override
    public void close() {
        requireOwner();
        synchronized (lock) {
            if (closed) {
                return;
            }
            stop();
            closed = true;
        }
    }

    private void removeSupergraph() {
        synchronized (lock) {
            supergraphs--;
        }
    }

    /** Its number, unique in this process, for messages. */
    @Override
    public String toString() {
        return name;
    }

    // ---- for its instances ----

    void requireOwner() {
        if (engine != null) {
            engine.requireOwner();
        }
    }

    boolean isOnEngine() {
        return engine != null;
    }

    @Nullable EngineGraph engineGraph() {
        return engineGraph;
    }

    @Nullable GraphCallback callback(boolean success) {
        return success ? succeeded : failed;
    }

    /** The contexts of its nodes, those of sub-graphs included. */
    Set<Context> contexts() {
        return contexts;
    }

    /** Places that an instance takes of a work queue. */
    int places() {
        return places;
    }

    Refusal tooFewPlaces() {
        return tooFewPlaces;
    }

    private static Refusal tooFewPlacesFor(int needed) {
        return Refusal.ready(
                Status.NO_MEMORY,
                () ->
                        Text.format(
                                "work queue has too few places: places=%d, expected=one per context"
                                        + " node and one for the instance, free",
                                needed));
    }

    private String purpose() {
        return engine == null ? "work queues" : "engine of " + Threads.describe(engine.owner());
    }

    private void requireConfigurable() {
        if (closed || started) {
            throw new DpuException(
                    Status.BAD_STATE,
                    closed
                            ? Text.format(
                                    "graph is closed: graph=%s, expected=one that is open", this)
                            : Text.format(
                                    "graph is started: graph=%s, call=%s, expected=a call before"
                                            + " start or after stop",
                                    this, CallName.of(Graph.class)));
        }
    }

    private void requireStarted(String call) {
        if (!started) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "%s needs a started graph: graph=%s, expected=Graph.start first",
                            call, this));
        }
    }

    @SuppressWarnings("ReferenceEquality") // graphs and engines are compared by identity
    private static boolean isSame(@Nullable Object one, @Nullable Object other) {
        return one == other;
    }
}
