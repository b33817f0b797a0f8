package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Threads;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.testkit.Clause;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes and dependencies of graphs, their start and stop, and their instances, on a work queue. */
class GraphStructureTest extends WorkQueueFixture {
    private Graph graph;

    @BeforeEach
    void create() {
        graph = machines.add(Graph.create());
    }

    /** Removes graphs and contexts from it, so that they can be closed in their order. */
    @AfterEach
    void closeQueue() {
        queue.close();
    }

    private GraphNode jobNode() {
        return graph.addContextNode(context, TinyJobs.COUNT);
    }

    private GraphNode userNode() {
        return graph.addUserNode(object -> Status.SUCCESS);
    }

    private GraphInstance instance() {
        return machines.add(graph.createInstance());
    }

    // ---- nodes and dependencies ----

    @Test
    @Clause({"core-239", "core-240", "core-241"})
    void shouldHaveTheNodesAndDependenciesThatWereAdded() {
        GraphNode first = jobNode();
        GraphNode second = userNode();

        assertThat(graph.isStarted()).isFalse();
        assertThat(first.graph()).isSameAs(graph);
        assertThat(first.index()).isZero();
        assertThat(second.index()).isEqualTo(1);
        assertThat(first).hasToString("node 0 (tiny count of " + context + ")");
        assertThat(second).hasToString("node 1 (user)");
        assertThat(graph.addDependency(first, second)).isSameAs(graph);
        Thrown.with(Status.ALREADY_EXIST, () -> graph.addDependency(first, second))
                .hasMessage(
                        "dependency exists: graph=%s, parent=%s, child=%s", graph, first, second);
        assertThat(graph.start()).isSameAs(graph);
        assertThat(graph.isStarted()).isTrue();
    }

    @Test
    @Clause("core-251")
    void shouldRefuseACycleWithItsPathAndChangeNothing() {
        GraphNode a = jobNode();
        GraphNode b = userNode();
        GraphNode c = userNode();
        graph.addDependency(a, b).addDependency(b, c);

        Thrown.with(Status.NOT_PERMITTED, () -> graph.addDependency(c, a))
                .hasMessage(
                        "dependency would close a cycle: graph=%s, path=%s -> %s -> %s -> %s",
                        graph, c, a, b, c);
        Thrown.with(Status.NOT_PERMITTED, () -> graph.addDependency(b, b))
                .hasMessage("dependency would close a cycle: graph=%s, path=%s -> %s", graph, b, b);

        // Nothing has changed: a is still a root, so that an instance ends.
        graph.start().addTo(queue);
        GraphInstance instance = instance().setJob(a, context.job());
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        graph.removeFrom(queue);
    }

    @Test
    void shouldAllowTwoPathsToANode() {
        GraphNode a = jobNode();
        GraphNode b = userNode();
        GraphNode c = userNode();

        graph.addDependency(a, b).addDependency(b, c).addDependency(a, c);

        assertThat(graph.start().isStarted()).isTrue();
    }

    @Test
    void shouldRefuseANodeOfAnotherGraph() {
        GraphNode own = jobNode();
        Graph other = machines.add(Graph.create());
        GraphNode foreign = other.addUserNode(object -> Status.SUCCESS);

        Thrown.with(Status.INVALID_VALUE, () -> graph.addDependency(own, foreign))
                .hasMessageContaining("argument=child")
                .hasMessageContaining("nodeGraph=" + other);
        Thrown.with(Status.INVALID_VALUE, () -> graph.addDependency(foreign, own))
                .hasMessageContaining("argument=parent");
        graph.start();
        GraphInstance instance = instance();
        Thrown.with(Status.INVALID_VALUE, () -> instance.setObject(foreign, "x"))
                .hasMessageContaining("nodeGraph=" + other);
        Thrown.with(Status.INVALID_VALUE, () -> instance.state(foreign));
        Thrown.with(Status.INVALID_VALUE, () -> instance.status(foreign));
    }

    // ---- start and stop ----

    @Test
    @Clause("core-252")
    void shouldRefuseAGraphWithoutContextNodeUnlessASubgraphHasOne() {
        userNode();
        Thrown.with(Status.BAD_STATE, graph::start)
                .hasMessage(
                        "graph has no context node: graph=%s, nodes=1, contextNodes=0,"
                                + " expected=one, directly or in a sub-graph",
                        graph);
        Thrown.with(Status.BAD_STATE, () -> machines.add(Graph.create()).start())
                .hasMessageContaining("nodes=0");

        Graph subgraph = machines.add(Graph.create());
        subgraph.addContextNode(context, TinyJobs.COUNT);
        Thrown.with(Status.BAD_STATE, () -> graph.addSubgraphNode(subgraph))
                .hasMessageContaining("sub-graph is not started");
        subgraph.start();
        graph.addSubgraphNode(subgraph);
        assertThat(graph.start().isStarted()).isTrue();
        graph.close(); // before the sub-graph, which cannot be stopped while this is open
    }

    @Test
    @Clause({"core-242", "core-260"})
    void shouldNotChangeAfterStart() {
        GraphNode first = jobNode();
        GraphNode second = userNode();
        Graph subgraph = machines.add(Graph.create());
        subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        graph.start();

        assertNotNow("addContextNode", this::jobNode);
        assertNotNow("addUserNode", this::userNode);
        assertNotNow("addSubgraphNode", () -> graph.addSubgraphNode(subgraph));
        assertNotNow("addDependency", () -> graph.addDependency(first, second));
        assertNotNow("setMaxInstances", () -> graph.setMaxInstances(2));
        assertNotNow("start", graph::start);

        graph.stop();
        graph.addDependency(first, second).start();
        assertThat(graph.isStarted()).isTrue();
    }

    private void assertNotNow(String call, ThrowingCallable refused) {
        Thrown.with(Status.BAD_STATE, refused)
                .hasMessage(
                        "graph is started: graph=%s, call=%s, expected=a call before start or after"
                                + " stop",
                        graph, call);
    }

    @Test
    @Clause("core-235")
    void shouldRefuseToStartWhileAContextIsOnNoQueueOrNotRunning() {
        TinyJobs other = machines.add(new TinyJobs("other", device));
        graph.addContextNode(other, TinyJobs.COUNT);

        Thrown.with(Status.BAD_STATE, graph::start)
                .hasMessageContaining("context of a node is not running")
                .hasMessageContaining("context=" + other + ", state=IDLE, expected=RUNNING");
        other.start();
        Thrown.with(Status.BAD_STATE, graph::start)
                .hasMessage(
                        "context of a node is on no work queue: graph=%s, context=%s,"
                                + " expected=WorkQueue.add",
                        graph, other);
        queue.add(other);
        graph.start();
    }

    @Test
    void shouldStopOnlyWithoutInstancesQueuesAndSupergraphs() {
        GraphNode node = jobNode();
        graph.start().addTo(queue);
        GraphInstance instance = graph.createInstance().setJob(node, context.job());
        instance.submit(queue);
        Thrown.with(Status.IN_USE, graph::stop).hasMessageContaining("graph has instances");
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.IN_USE, graph::stop)
                .hasMessage(
                        "graph has instances: graph=%s, instances=1, first=%s, expected=close of"
                                + " each",
                        graph, instance);
        instance.close();
        instance.close();
        Thrown.with(Status.NOT_PERMITTED, graph::stop).hasMessageContaining("on work queues");
        graph.removeFrom(queue);
        Graph supergraph = Graph.create();
        supergraph.addSubgraphNode(graph);
        graph.stop(); // not started, the other graph keeps nothing
        Thrown.with(Status.BAD_STATE, supergraph::start)
                .hasMessageContainingAll("sub-graph is not started", "graph=" + supergraph);
        graph.start();
        Graph other = Graph.create(); // a start that fails gives back what it has taken
        other.addSubgraphNode(graph);
        Graph ended = Graph.create();
        ended.addContextNode(context, TinyJobs.COUNT);
        ended.start();
        other.addSubgraphNode(ended);
        ended.close();
        Thrown.with(Status.BAD_STATE, other::start).hasMessageContaining("subgraph=" + ended);
        graph.stop();
        graph.start();
        supergraph.start();
        Thrown.with(Status.IN_USE, graph::stop).hasMessageContaining("sub-graph of others");
        Thrown.with(Status.IN_USE, graph::close);
        supergraph.stop();
        graph.stop();
        graph.stop();
        assertThat(graph.isStarted()).isFalse();
        graph.close();
        graph.close();
        Thrown.with(Status.BAD_STATE, this::userNode).hasMessageContaining("graph is closed");
    }

    /** Setters that throw leave instances, and the jobs of their nodes, that nobody can close. */
    @Test
    void shouldCloseInstancesThatHaveNeverRunWithItsStop() {
        GraphNode node = jobNode();
        GraphNode user = userNode();
        graph.start();
        TinyJobs.TinyJob job = context.job();
        Thrown.with(
                Status.NOT_PERMITTED,
                () -> graph.createInstance().setJob(node, job).setObject(node, "of a user node"));
        GraphInstance known = graph.createInstance().setObject(user, "x");
        Graph supergraph = machines.add(Graph.create());
        GraphNode sub = supergraph.addSubgraphNode(graph);
        supergraph.start();
        supergraph.createInstance().setInstance(sub, graph.createInstance());
        assertThat(graph.instances()).isEqualTo(3);

        supergraph.close();
        graph.stop();

        assertThat(graph.instances()).isZero();
        Thrown.with(Status.BAD_STATE, () -> known.setObject(user, "y"));
        queue.submit(job);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseItselfAndAGraphForAnEngineAsSubgraph() {
        Thrown.with(Status.NOT_PERMITTED, () -> graph.addSubgraphNode(graph))
                .hasMessageContaining("cannot contain itself");
        ProgressEngine engine = machines.add(ProgressEngine.create());
        Graph other = machines.add(Graph.create(engine));
        Thrown.with(Status.NOT_PERMITTED, () -> graph.addSubgraphNode(other))
                .hasMessageContaining("for something else");
        Thrown.with(Status.NOT_PERMITTED, () -> graph.addContextNode(context));
        Thrown.with(Status.NOT_PERMITTED, () -> other.addContextNode(context, TinyJobs.COUNT));
        Thrown.with(Status.NOT_PERMITTED, () -> graph.setCallbacks(i -> {}, i -> {}));
    }

    // ---- work queues ----

    @Test
    @Clause({"core-243", "core-235"})
    void shouldBeAddedToAQueueThatHasItsContexts() {
        GraphNode node = jobNode();
        Thrown.with(Status.BAD_STATE, () -> graph.addTo(queue))
                .hasMessageContaining("addTo needs a started graph");
        graph.start();
        WorkQueue other = machines.add(WorkQueue.create(DEPTH));
        Thrown.with(Status.BAD_STATE, () -> graph.addTo(other))
                .hasMessage(
                        "context of a node is not on the queue: graph=%s, context=%s,"
                                + " queueThread=%s, expected=WorkQueue.add",
                        graph, context, Threads.current());
        GraphInstance instance = instance().setJob(node, context.job());
        assertThat(instance.trySubmit(queue)).isEqualTo(Status.NOT_FOUND);
        assertThat(instance.refusal()).hasMessageContaining("expected=Graph.addTo");
        graph.addTo(queue);
        Thrown.with(Status.IN_USE, () -> graph.addTo(queue));
        Thrown.with(Status.NOT_PERMITTED, () -> queue.remove(context))
                .hasMessage(
                        "a graph on the queue uses the context: graph=%s, context=%s,"
                                + " queueThread=%s",
                        graph, context, Threads.current());
        instance.submit(queue);
        Thrown.with(Status.NOT_PERMITTED, () -> graph.removeFrom(queue))
                .hasMessageContaining("instance is in flight on the queue: instance=" + instance);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        graph.removeFrom(queue);
        Thrown.with(Status.NOT_FOUND, () -> graph.removeFrom(queue));
        queue.remove(context);
    }

    @Test
    void shouldLeaveAQueueThatIsClosed() {
        jobNode();
        graph.start();
        WorkQueue other = WorkQueue.create(DEPTH);
        other.add(context);
        graph.addTo(other);
        other.close();
        graph.stop();
        assertThat(graph.isStarted()).isFalse();
    }

    // ---- instances and what their nodes run ----

    @Test
    @Clause("core-244")
    void shouldCreateInstancesOfAStartedGraphUpToTheLimit() {
        jobNode();
        graph.setMaxInstances(2);
        Thrown.with(Status.BAD_STATE, graph::createInstance)
                .hasMessageContaining("createInstance needs a started graph");
        graph.start();
        GraphInstance first = instance();
        instance();
        assertThat(graph.instances()).isEqualTo(2);
        Thrown.with(Status.NO_MEMORY, graph::createInstance)
                .hasMessageContaining("graph has all its instances: graph=%s, instances=2", graph);
        first.close();
        assertThat(graph.instances()).isEqualTo(1);
        assertThat(instance().graph()).isSameAs(graph);
        Thrown.with(Status.INVALID_VALUE, () -> Graph.create().setMaxInstances(0));
        Thrown.with(
                Status.INVALID_VALUE,
                () -> Graph.create().setMaxInstances(1 + Graph.MAX_INSTANCES));
    }

    @Test
    @Clause("core-245")
    void shouldTakeOnlyWhatFitsItsNodes() {
        GraphNode node = jobNode();
        GraphNode user = userNode();
        TinyJobs other = machines.add(new TinyJobs("other", device));
        other.start();
        Graph subgraph = machines.add(Graph.create());
        subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        graph.start();
        machines.add(graph);
        GraphInstance instance = instance();

        Thrown.with(Status.NOT_PERMITTED, () -> instance.setJob(node, other.job()))
                .hasMessageContaining("node=" + node)
                .hasMessageContaining("job=job[type=tiny count, context=" + other + "]");
        Thrown.with(Status.NOT_PERMITTED, () -> instance.setJob(node, context.job(TinyJobs.SHOUT)))
                .hasMessageContaining("node=" + node)
                .hasMessageContaining("type=tiny shout");
        Thrown.with(Status.NOT_PERMITTED, () -> instance.setJob(user, context.job()));
        Thrown.with(Status.NOT_PERMITTED, () -> instance.setObject(node, "x"));
        Thrown.with(Status.NOT_PERMITTED, () -> instance.setInstance(node, instance));
        Thrown.with(Status.NOT_PERMITTED, () -> instance.setInstance(sub, instance))
                .hasMessageContaining("node=" + sub)
                .hasMessageContaining("instance=" + instance);
        GraphInstance subinstance = subgraph.createInstance();
        assertThat(instance.setJob(node, context.job())).isSameAs(instance);
        assertThat(instance.setObject(user, "x")).isSameAs(instance);
        assertThat(instance.setInstance(sub, subinstance)).isSameAs(instance);
        instance.close();
        subinstance.close();
        Thrown.with(Status.BAD_STATE, () -> instance.setObject(user, "y"))
                .hasMessageContaining("instance is closed");
    }

    @Test
    @Clause("core-236")
    void shouldKeepWhatAnInstanceHolds() {
        GraphNode node = jobNode();
        Graph subgraph = machines.add(Graph.create());
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        graph.start().addTo(queue);
        subgraph.addTo(queue);
        TinyJobs.TinyJob job = context.job();
        GraphInstance held = machines.add(subgraph.createInstance()).setJob(inner, context.job());
        GraphInstance instance = instance().setJob(node, job).setInstance(sub, held);
        GraphInstance other = instance();
        machines.add(graph);

        Thrown.with(Status.IN_USE, () -> other.setJob(node, job))
                .hasMessageContaining("a node of a graph holds the job: job=" + job)
                .hasMessageContaining("instance=" + instance);
        Thrown.with(Status.IN_USE, () -> other.setInstance(sub, held))
                .hasMessageContaining("instance=" + instance);
        Thrown.with(Status.IN_USE, held::close)
                .hasMessageContaining("a node of another instance holds it");
        assertThat(held.trySubmit(queue)).isEqualTo(Status.IN_USE);
        assertThat(queue.trySubmit(job)).isEqualTo(Status.IN_USE);
        assertThat(job.refusal()).hasMessageContaining("a node of a graph holds the job");

        TinyJobs.TinyJob replacement = context.job();
        instance.setJob(node, job).setJob(node, replacement); // job is returned
        other.setJob(node, job);
        other.close();
        queue.submit(job);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.job()).isSameAs(job);
        instance.close();
        held.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseWhatIsInFlight() {
        GraphNode node = jobNode();
        GraphNode user = userNode();
        graph.start().addTo(queue);
        TinyJobs.TinyJob busy = context.job();
        queue.submit(busy);
        GraphInstance instance = instance();
        Thrown.with(Status.IN_USE, () -> instance.setJob(node, busy));
        assertThat(instance.trySubmit(queue)).isEqualTo(Status.BAD_STATE);
        assertThat(instance.refusal())
                .hasMessageContaining("node has nothing to run: node=" + node);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);

        instance.setJob(node, busy).submit(queue);
        Thrown.with(Status.BAD_STATE, () -> instance.setJob(node, context.job()))
                .hasMessageContaining("instance is in flight");
        Thrown.with(Status.BAD_STATE, () -> instance.setObject(user, "x"));
        Thrown.with(Status.BAD_STATE, () -> instance.setUserData(1));
        Thrown.with(Status.IN_USE, instance::close);
        Thrown.with(Status.IN_USE, () -> instance.submit(queue));
        assertThat(instance.trySubmit()).as("on no engine").isEqualTo(Status.IN_USE);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(instance.trySubmit()).as("on no engine").isEqualTo(Status.BAD_STATE);
        graph.removeFrom(queue);
    }
}
