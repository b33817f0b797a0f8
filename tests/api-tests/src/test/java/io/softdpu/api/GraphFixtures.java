package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphCallback;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.core.graph.UserNodeCallback;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Graphs of one scope, with a node of each kind, their nodes, and their instances. Most are for the
 * engine, some for work queues.
 */
final class GraphFixtures {
    private static final int TASKS = 64;
    private static final int DEPTH = 8;

    /**
     * Parts of a graph that is made here.
     *
     * @param context the context of its tasks or jobs
     * @param node runs a task or a job
     * @param user runs a callback
     * @param sub runs an instance of the sub-graph
     * @param subgraph the sub-graph, with one node
     */
    record Parts(Dma context, GraphNode node, GraphNode user, GraphNode sub, Graph subgraph) {}

    private final FixtureScope scope;
    private final Map<Graph, Parts> parts = new IdentityHashMap<>();
    private final Map<Graph, GraphNode> innerNodes = new IdentityHashMap<>();
    private final Map<Graph, WorkQueue> queueOf = new IdentityHashMap<>();
    private @Nullable Dma engineDma;

    GraphFixtures(FixtureScope scope) {
        this.scope = scope;
    }

    static void register(Registry registry) {
        registry.value(NodeState.class, NodeState.SKIPPED);
        registry.none(UserNodeCallback.class, "implemented by users, called by libraries only");
        registry.none(GraphCallback.class, "implemented by users, called by libraries only");
        registry.add(
                Graph.class,
                Threads.OF_ENGINE,
                List.of(
                        "created",
                        "started",
                        "with instances",
                        "created for queues",
                        "for queues",
                        "on a queue",
                        "stopped",
                        "closed"),
                (scope, state) -> scope.graphs().graph(state));
        registry.add(
                GraphNode.class,
                Threads.ANY,
                List.of("of a context", "of a user"),
                (scope, state) -> {
                    Parts made = scope.graphs().parts(scope.graphs().graph("started"));
                    return state.equals("of a user") ? made.user() : made.node();
                });
        registry.add(
                GraphInstance.class,
                Threads.OF_ENGINE,
                List.of("ready", "created", "in flight", "ended", "held", "for queues", "closed"),
                (scope, state) -> scope.graphs().instance(state));
    }

    /** The parts of a graph; those of another where it was made by a call of the test. */
    Parts parts(@Nullable Graph graph) {
        Parts known = graph == null ? null : parts.get(graph);
        return known != null ? known : parts.computeIfAbsent(engineGraph(), g -> newParts(g, null));
    }

    private Graph engineGraph() {
        return scope.keep(Graph.create(scope.engine()));
    }

    private Dma engineDma() {
        if (engineDma == null || engineDma.state() != ContextState.RUNNING) {
            Dma dma =
                    scope.keep(Dma.create(scope.environment.p0))
                            .setMemcpyTasks(TASKS, task -> {}, task -> {});
            scope.engine().connect(dma);
            dma.start();
            engineDma = dma;
        }
        return engineDma;
    }

    private Parts newParts(Graph graph, @Nullable WorkQueue queue) {
        Dma context = queue == null ? engineDma() : scope.dmaOf(queue);
        Graph subgraph = scope.keep(queue == null ? Graph.create(scope.engine()) : Graph.create());
        innerNodes.put(subgraph, contextNode(subgraph, context, queue));
        subgraph.start();
        return new Parts(
                context,
                contextNode(graph, context, queue),
                graph.addUserNode(object -> Status.SUCCESS),
                graph.addSubgraphNode(subgraph),
                subgraph);
    }

    private static GraphNode contextNode(Graph graph, Dma context, @Nullable WorkQueue queue) {
        return queue == null
                ? graph.addContextNode(context)
                : graph.addContextNode(context, Dma.MEMCPY_JOB);
    }

    Graph graph(String state) {
        boolean queues = state.contains("queue");
        WorkQueue queue = queues ? scope.queueWith(scope.queuedDma(), DEPTH) : null;
        Graph graph = queues ? scope.keep(Graph.create()) : engineGraph();
        parts.put(graph, newParts(graph, queue));
        if (queue != null) {
            queueOf.put(graph, queue);
        }
        switch (state) {
            case "started", "for queues" -> graph.start();
            case "on a queue" -> graph.start().addTo(queue);
            case "with instances" -> {
                graph.start();
                scope.keep(graph.createInstance());
            }
            case "stopped" -> {
                graph.start();
                graph.stop();
            }
            case "closed" -> graph.close();
            default -> {}
        }
        return graph;
    }

    /** The queue that has the contexts of a graph; another for a graph that is for an engine. */
    WorkQueue queue(@Nullable Graph graph) {
        WorkQueue queue = graph == null ? null : queueOf.get(graph);
        return queue == null ? scope.queueWithDma() : queue;
    }

    /** A task of the context of a graph. */
    DmaMemcpyTask task(@Nullable Graph graph) {
        Dma context = parts(graph).context();
        boolean runs = context.state() == ContextState.RUNNING && context.allocatedTasks() < TASKS;
        return scope.keep(
                (runs && !isForQueues(parts(graph)) ? context : engineDma())
                        .allocateMemcpy(
                                scope.buf(scope.environment.p0, 64, 16),
                                scope.buf(scope.environment.p0, 64, 16)));
    }

    /** An instance of the sub-graph of a graph, with its task or job. */
    GraphInstance subinstance(@Nullable Graph graph) {
        Parts of = parts(graph);
        GraphInstance instance = scope.keep(of.subgraph().createInstance());
        GraphNode node = innerNodes.get(of.subgraph());
        return isForQueues(of)
                ? instance.setJob(node, job(of))
                : instance.setTask(node, task(graph));
    }

    private boolean isForQueues(Parts of) {
        return of.context() != engineDma;
    }

    /** A job of the context of a graph. */
    DmaMemcpyJob job(Parts of) {
        return of.context()
                .createMemcpyJob(
                        scope.buf(scope.environment.p0, 64, 16),
                        scope.buf(scope.environment.p0, 64, 16));
    }

    private void fill(GraphInstance instance) {
        Parts of = parts(instance.graph());
        if (isForQueues(of)) {
            instance.setJob(of.node(), job(of));
        } else {
            instance.setTask(of.node(), task(instance.graph()));
        }
        instance.setInstance(of.sub(), subinstance(instance.graph()));
    }

    private GraphInstance instance(String state) {
        Graph graph = graph(state.equals("for queues") ? "on a queue" : "started");
        if (state.equals("held")) {
            GraphInstance holder = scope.keep(graph.createInstance());
            GraphInstance held = subinstance(graph);
            holder.setInstance(parts(graph).sub(), held);
            return held;
        }
        GraphInstance instance = scope.keep(graph.createInstance());
        if (state.equals("created")) {
            return instance;
        }
        fill(instance);
        switch (state) {
            case "in flight" -> instance.submit();
            case "ended" -> {
                instance.submit();
                scope.until("ended", () -> !instance.isInFlight());
            }
            case "closed" -> instance.close();
            default -> {}
        }
        return instance;
    }
}
