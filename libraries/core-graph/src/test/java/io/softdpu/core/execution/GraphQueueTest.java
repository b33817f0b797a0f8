package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.TinyContext.TinyObserver;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Graph instances on a work queue. */
class GraphQueueTest extends WorkQueueFixture {

    private Graph graph;
    private final List<String> ran = new ArrayList<>();

    @BeforeEach
    void create() {
        graph = Graph.create();
    }

    @AfterEach
    void closeGraph() {
        for (int i = 0; queue.inFlightJobs() > 0 && i < 100; i++) {
            queue.progressRetrieve(event);
        }
        if (graph.isStarted() && !open.isEmpty()) {
            open.forEach(GraphInstance::close);
        }
        queue.close();
        graph.close();
        subgraphs.forEach(Graph::close);
    }

    private final List<GraphInstance> open = new ArrayList<>();
    private final List<Graph> subgraphs = new ArrayList<>();

    private GraphNode jobNode() {
        return graph.addContextNode(context, TinyJobs.COUNT);
    }

    private GraphNode userNode(String name) {
        return graph.addUserNode(object -> {
            ran.add(object == null ? name : name + object);
            return Status.SUCCESS;
        });
    }

    private GraphInstance instance() {
        GraphInstance created = graph.createInstance();
        open.add(created);
        return created;
    }

    private Status next() {
        return queue.progressRetrieve(event);
    }

    private TinyJob job(int slices) {
        TinyJob job = context.job();
        job.setSlices(slices);
        return job;
    }

    @Test
    @Clause({"core-227", "core-228", "core-246"})
    @Clause({"core-247", "core-248", "core-249"})
    void shouldAnswerAgainForEachNodeAndSuccessOnceForTheInstance() {
        GraphNode first = jobNode();
        GraphNode then = userNode("user");
        GraphNode last = jobNode();
        graph.addDependency(first, then).addDependency(then, last);
        graph.start().addTo(queue);
        GraphInstance instance =
                instance()
                        .setJob(first, job(1))
                        .setObject(then, " node")
                        .setJob(last, job(1))
                        .setUserData(Long.MIN_VALUE + 9);

        instance.submit(queue);
        assertThat(instance.isInFlight()).isTrue();
        assertThat(instance.state(first)).isEqualTo(NodeState.RUNNING);
        assertThat(instance.state(then)).isEqualTo(NodeState.WAITING);
        assertThat(instance.status(then)).isEqualTo(Status.IN_PROGRESS);
        assertThat(queue.inFlightJobs()).as("places").isEqualTo(3);
        assertThat(next()).as("end of the first").isEqualTo(Status.AGAIN);
        assertThat(event.isValid()).isFalse();
        assertThat(instance.state(first)).isEqualTo(NodeState.COMPLETED);
        assertThat(ran).isEmpty();
        assertThat(next()).as("end of the user node").isEqualTo(Status.AGAIN);
        assertThat(ran).containsExactly("user node");
        assertThat(instance.state(last)).isEqualTo(NodeState.RUNNING);
        assertThat(next()).as("end of the last").isEqualTo(Status.AGAIN);
        assertThat(instance.state(last)).isEqualTo(NodeState.COMPLETED);
        assertThat(instance.status()).isEqualTo(Status.IN_PROGRESS);
        assertThat(next()).as("the instance").isEqualTo(Status.SUCCESS);
        assertThat(event.isValid()).isTrue();
        assertThat(event.type()).isEqualTo(JobType.GRAPH_JOB);
        assertThat(event.result()).isZero();
        assertThat(event.status()).isEqualTo(Status.SUCCESS);
        assertThat(event.userData()).isEqualTo(Long.MIN_VALUE + 9);
        assertThat(event.userObject()).isSameAs(instance);
        assertThat(event)
                .hasToString(
                        "event[type=graph, status=SUCCESS, userData=" + (Long.MIN_VALUE + 9) + "]");
        Thrown.with(Status.BAD_STATE, event::job).hasMessageContaining("event has no job");
        assertThat(instance.isInFlight()).isFalse();
        assertThat(instance.status()).isEqualTo(Status.SUCCESS);
        assertThat(queue.inFlightJobs()).isZero();
        assertThat(next()).as("once").isEqualTo(Status.AGAIN);
        assertThat(event.isValid()).isFalse();
    }

    @Test
    @Clause({"core-230", "core-231", "core-234"})
    @Clause("core-282")
    void shouldStartAllRootsAtTheSubmission() {
        TinyJobs other = machines.add(new TinyJobs("other", device));
        other.start();
        queue.add(other);
        GraphNode one = jobNode();
        GraphNode two = graph.addContextNode(other, TinyJobs.SHOUT);
        GraphNode user = userNode("root");
        GraphNode child = userNode("child");
        graph.addDependency(one, child).addDependency(two, child);
        graph.start().addTo(queue);
        GraphInstance instance =
                instance().setJob(one, job(2)).setJob(two, other.job(TinyJobs.SHOUT));

        instance.submit(queue);
        assertThat(instance.state(one)).isEqualTo(NodeState.RUNNING);
        assertThat(instance.state(two)).isEqualTo(NodeState.RUNNING);
        assertThat(ran).as("a user node, too").containsExactly("root");
        assertThat(instance.state(user)).as("until a retrieval").isEqualTo(NodeState.RUNNING);
        assertThat(next()).isEqualTo(Status.AGAIN);
        assertThat(ran).as("once").containsExactly("root");
        assertThat(instance.state(user)).isEqualTo(NodeState.COMPLETED);
        assertThat(other.slices).as("one job on each context").hasValue(0);
        assertThat(next()).isEqualTo(Status.AGAIN);
        assertThat(other.slices).hasValue(1);
        assertThat(context.slices).hasValue(1);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(context.slices).hasValue(2);
        assertThat(ran).containsExactly("root", "child");
    }

    /** An instance ends in a retrieval, and what follows a root starts there. */
    @Test
    @Clause({"core-231", "core-282"})
    void shouldRunTheRootsOfASubgraphThatIsARootAndNothingElseAtTheSubmission() {
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner =
                subgraph.addUserNode(object -> {
                    ran.add("inner");
                    return Status.SUCCESS;
                });
        GraphNode afterInner =
                subgraph.addUserNode(object -> {
                    ran.add("after inner");
                    return Status.SUCCESS;
                });
        GraphNode last = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.addDependency(inner, afterInner).addDependency(afterInner, last).start();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        GraphNode root = userNode("root");
        GraphNode child = userNode("child");
        graph.addDependency(root, child).start().addTo(queue);
        GraphInstance part = subgraph.createInstance().setJob(last, job(1));
        GraphInstance instance = instance().setInstance(sub, part);

        instance.submit(queue);

        assertThat(ran).containsExactly("inner", "root");
        assertThat(instance.isInFlight()).isTrue();
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(ran).containsExactly("inner", "root", "after inner", "child");
        open.forEach(GraphInstance::close);
        open.clear();
        part.close();
    }

    /** What a user node may do in a retrieval it may do at the submission. */
    @Test
    @Clause("core-282")
    void shouldLetARootSubmitAllocateAndStopTheGraphAtTheSubmission() {
        List<String> allowed = new ArrayList<>();
        WorkQueue wide = WorkQueue.create(8);
        wide.add(context);
        Graph another = Graph.create();
        subgraphs.add(another);
        another.addUserNode(object -> {
            ran.add("another");
            return Status.SUCCESS;
        });
        GraphNode ofAnother = another.addContextNode(context, TinyJobs.COUNT);
        another.start().addTo(wide);
        GraphInstance other = another.createInstance().setJob(ofAnother, job(1));
        open.add(other);
        TinyJob held = job(1);
        GraphNode root =
                graph.addUserNode(object -> {
                    Thrown.with(
                            Status.NOT_PERMITTED, () -> wide.progressRetrieve(JobEvent.create()));
                    Thrown.with(Status.IN_USE, graph::stop);
                    allowed.add("job " + wide.trySubmit(job(1)));
                    allowed.add("instance " + other.trySubmit(wide));
                    held.setSlices(2); // also after the callback of another user node
                    allowed.add("wait " + WaitPermission.isGranted());
                    return Status.SUCCESS;
                });
        GraphNode node = jobNode();
        graph.addDependency(root, node).start().addTo(wide);
        GraphInstance instance = instance().setJob(node, held);

        instance.submit(wide);

        assertThat(ran).containsExactly("another");
        assertThat(allowed).containsExactly("job SUCCESS", "instance SUCCESS", "wait false");
        assertThat(WaitPermission.isGranted()).isTrue();
        Thrown.with(Status.IN_USE, () -> held.setSlices(3));
        int completed = 0;
        for (int i = 0; i < 100 && completed < 3; i++) {
            completed += wide.progressRetrieve(event) == Status.SUCCESS ? 1 : 0;
        }
        assertThat(completed).as("the job, and both instances").isEqualTo(3);
        assertThat(wide.inFlightJobs()).isZero();
        assertThat(context.slices).as("one, one, and two of the changed job").hasValue(4);
        wide.close();
    }

    /** The submission was accepted: the instance runs, and ends with the failures. */
    @Test
    @Clause("core-282")
    void shouldThrowWhatRootsHaveThrownFromARetrieval() {
        IllegalStateException first = new IllegalStateException("of the first root");
        IllegalStateException second = new IllegalStateException("of the second root");
        GraphNode one =
                graph.addUserNode(object -> {
                    throw first;
                });
        GraphNode two =
                graph.addUserNode(object -> {
                    throw second;
                });
        GraphNode beside = jobNode();
        graph.start().addTo(queue);
        GraphInstance instance = instance().setJob(beside, job(1));

        assertThat(instance.trySubmit(queue)).isEqualTo(Status.SUCCESS);

        assertThatThrownBy(this::next).isSameAs(first).hasSuppressedException(second);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(instance.failedNodes()).containsExactly(one, two);
    }

    @Test
    void shouldNotPermitToWaitForAnotherProcessInsideAUserNode() {
        List<Boolean> granted = new ArrayList<>();
        GraphNode job = jobNode();
        graph.addUserNode(_ -> {
            granted.add(WaitPermission.isGranted());
            return Status.SUCCESS;
        });
        graph.start().addTo(queue);
        instance().setJob(job, job(1)).submit(queue);

        assertThat(retrieve()).isEqualTo(Status.SUCCESS);

        granted.add(WaitPermission.isGranted());
        assertThat(granted).containsExactly(false, true);
    }

    @Test
    @Clause({"core-232", "core-233"})
    void shouldRunANodeAfterAllItsParentsAndEndAfterAllEdges() {
        GraphNode a = jobNode();
        GraphNode b = jobNode();
        GraphNode join = userNode("join");
        GraphNode edge = jobNode();
        graph.addDependency(a, join).addDependency(b, join).addDependency(a, edge);
        graph.start();
        WorkQueue wide = WorkQueue.create(8);
        wide.add(context);
        graph.addTo(wide);
        GraphInstance instance =
                instance().setJob(a, job(1)).setJob(b, job(1)).setJob(edge, job(3));
        instance.submit(wide);

        List<String> seen = new ArrayList<>();
        Status retrieved = Status.AGAIN;
        for (int i = 0; i < 100 && retrieved == Status.AGAIN; i++) {
            retrieved = wide.progressRetrieve(event);
            seen.add(
                    Text.format(
                            "%s %s %s %s",
                            instance.state(a),
                            instance.state(b),
                            instance.state(join),
                            instance.state(edge)));
        }
        assertThat(retrieved).isEqualTo(Status.SUCCESS);
        assertThat(seen.stream().distinct())
                .containsExactly(
                        "COMPLETED RUNNING WAITING RUNNING",
                        "COMPLETED COMPLETED WAITING RUNNING",
                        "COMPLETED COMPLETED COMPLETED RUNNING",
                        "COMPLETED COMPLETED COMPLETED COMPLETED");
        wide.close();
    }

    @Test
    @Clause("core-237")
    void shouldLetAUserNodeChangeTheJobOfTheNextNode() {
        GraphNode user =
                graph.addUserNode(object -> {
                    ((TinyJob) object).setSlices(3);
                    return Status.SUCCESS;
                });
        GraphNode node = jobNode();
        graph.addDependency(user, node);
        graph.start().addTo(queue);
        TinyJob job = job(1);
        GraphInstance instance = instance().setObject(user, job).setJob(node, job);
        instance.submit(queue);
        Thrown.with(Status.IN_USE, () -> job.setSlices(2))
                .hasMessageContaining("expected=a change by a user node, or after the instance");
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(context.slices).hasValue(3);
        job.setSlices(2);
        assertThat(job.slices).isEqualTo(2);
    }

    @Test
    void shouldLetAUserNodeChangeTheJobOfASubgraphThatHasNotBegun() {
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        GraphNode user =
                graph.addUserNode(object -> {
                    ((TinyJob) object).setSlices(3);
                    return Status.SUCCESS;
                });
        GraphNode sub = graph.addSubgraphNode(subgraph);
        graph.addDependency(user, sub).start().addTo(queue);
        TinyJob job = job(1);
        GraphInstance part = subgraph.createInstance().setJob(inner, job);
        GraphInstance instance = instance().setObject(user, job).setInstance(sub, part);
        open.add(part);
        for (int run = 1; run <= 2; run++) {
            instance.submit(queue);
            Thrown.with(Status.IN_USE, () -> job.setSlices(2));
            assertThat(retrieve()).isEqualTo(Status.SUCCESS);
            assertThat(event.result()).isZero();
            assertThat(context.slices).hasValue(3 * run);
        }
    }

    @Test
    void shouldSkipTheNodesOfASubgraphThatARunHasNotStarted() {
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        GraphNode first = jobNode();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        graph.addDependency(first, sub).start().addTo(queue);
        TinyJob job = job(1);
        GraphInstance part = subgraph.createInstance().setJob(inner, job(1));
        GraphInstance instance = instance().setJob(first, job).setInstance(sub, part);
        open.add(part);
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(part.state(inner)).isEqualTo(NodeState.COMPLETED);
        assertThat(part.status()).isEqualTo(Status.SUCCESS);

        job.outcome = Status.TOO_BIG;
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.TOO_BIG);
        assertThat(instance.state(sub)).isEqualTo(NodeState.SKIPPED);
        assertThat(part.state(inner)).isEqualTo(NodeState.SKIPPED);
        assertThat(part.status()).isEqualTo(Status.SKIPPED);

        job.outcome = Status.SUCCESS;
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(part.state(inner)).isEqualTo(NodeState.COMPLETED);
        assertThat(part.status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndAnInstanceOfWhichASubmissionThrowsAnError(boolean atRoot) {
        Error error = new InternalError("memory cannot be read");
        GraphNode first = jobNode();
        GraphNode last = jobNode();
        graph.addDependency(first, last).start().addTo(queue);
        TinyJob throwing = job(1);
        throwing.refusedForNow =
                () -> {
                    throw error;
                };
        GraphInstance instance =
                instance()
                        .setJob(first, atRoot ? throwing : job(1))
                        .setJob(last, atRoot ? job(1) : throwing);
        instance.submit(queue);
        assertThatThrownBy(this::retrieve).isSameAs(error);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(instance.failure()).hasRootCause(error);
        assertThat(instance.state(last)).isEqualTo(atRoot ? NodeState.SKIPPED : NodeState.FAILED);
        assertThat(queue.inFlightJobs()).isZero();
    }

    @Test
    @Clause({"core-229", "core-238"})
    void shouldRunASubgraphInEachPosition() {
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        GraphNode innerUser =
                subgraph.addUserNode(object -> {
                    ran.add("inner " + object);
                    return Status.SUCCESS;
                });
        subgraph.addDependency(inner, innerUser);
        subgraph.start();
        GraphNode root = graph.addSubgraphNode(subgraph);
        GraphNode middle = userNode("middle");
        GraphNode edge = graph.addSubgraphNode(subgraph);
        graph.addDependency(root, middle).addDependency(middle, edge);
        graph.start().addTo(queue);
        List<GraphInstance> inners = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            inners.add(
                    subgraph.createInstance()
                            .setJob(inner, job(1))
                            .setObject(innerUser, "number " + i));
        }
        GraphInstance instance =
                instance().setInstance(root, inners.get(0)).setInstance(edge, inners.get(1));

        instance.submit(queue);
        assertThat(queue.inFlightJobs()).as("places, those of sub-graphs included").isEqualTo(3);
        assertThat(instance.state(root)).isEqualTo(NodeState.RUNNING);
        assertThat(inners.get(0).state(inner)).isEqualTo(NodeState.RUNNING);
        int ends = 0;
        while (next() == Status.AGAIN) {
            ends++;
            assertThat(ends).isLessThan(100);
        }
        assertThat(event.userObject()).isSameAs(instance);
        assertThat(ran).containsExactly("inner number 0", "middle", "inner number 1");
        assertThat(ends).as("two of each sub-graph, and three of its own").isEqualTo(7);
        assertThat(inners.get(1).status()).isEqualTo(Status.SUCCESS);
        open.forEach(GraphInstance::close);
        open.clear();
        inners.forEach(GraphInstance::close);
    }

    /** The kinds of nodes. */
    private enum Kind {
        CONTEXT,
        USER,
        SUBGRAPH
    }

    /** Each of three nodes in a row, of each kind: a root, one in the middle, and an edge. */
    @Test
    @Clause({"core-229", "core-233", "core-238"})
    void shouldRunANodeOfEachKindInEachPosition() {
        for (Kind root : Kind.values()) {
            for (Kind middle : Kind.values()) {
                for (Kind edge : Kind.values()) {
                    List<Kind> row = List.of(root, middle, edge);
                    if (!row.equals(List.of(Kind.USER, Kind.USER, Kind.USER))) { // it is refused
                        ran.clear();
                        runRow(row);
                        assertThat(ran).as("%s", row).containsExactly("0", "1", "2");
                    }
                }
            }
        }
    }

    private void runRow(List<Kind> row) {
        Graph rowGraph = Graph.create();
        subgraphs.add(rowGraph); // is closed before the one that it uses
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        List<GraphNode> nodes = new ArrayList<>();
        for (Kind kind : row) {
            nodes.add(
                    switch (kind) {
                        case CONTEXT -> rowGraph.addContextNode(context, TinyJobs.COUNT);
                        case USER -> rowGraph.addUserNode(this::runsAs);
                        case SUBGRAPH -> rowGraph.addSubgraphNode(subgraph);
                    });
        }
        rowGraph.addDependency(nodes.get(0), nodes.get(1));
        rowGraph.addDependency(nodes.get(1), nodes.get(2)).start().addTo(queue);
        GraphInstance instance = rowGraph.createInstance();
        List<GraphInstance> parts = new ArrayList<>();
        for (int i = 0; i < row.size(); i++) {
            GraphNode node = nodes.get(i);
            switch (row.get(i)) {
                case CONTEXT -> instance.setJob(node, jobThatRunsAs(i));
                case USER -> instance.setObject(node, i);
                case SUBGRAPH -> {
                    parts.add(subgraph.createInstance().setJob(inner, jobThatRunsAs(i)));
                    instance.setInstance(node, parts.getLast());
                }
            }
        }
        instance.submit(queue);
        assertThat(retrieve()).as("%s", row).isEqualTo(Status.SUCCESS);
        assertThat(event.userObject()).isSameAs(instance);
        assertThat(event.result()).as("%s", row).isZero();
        assertThat(queue.inFlightJobs()).isZero();
        instance.close();
        parts.forEach(GraphInstance::close);
        rowGraph.removeFrom(queue);
    }

    private Status runsAs(Object number) {
        ran.add(number.toString());
        return Status.SUCCESS;
    }

    /** It has two slices, so that a node which did not wait for it would run before its end. */
    private TinyJob jobThatRunsAs(int number) {
        TinyJob job = job(2);
        job.observer =
                new TinyObserver() {
                    @Override
                    public void accepted() {}

                    @Override
                    public void finished(Status status) {
                        runsAs(number);
                    }
                };
        return job;
    }

    @Test
    @Clause("core-250")
    void shouldRunBesideJobsThatKeepTheirOwnCompletions() {
        GraphNode node = jobNode();
        graph.start().addTo(queue);
        GraphInstance instance = instance().setJob(node, job(1)).setUserData(100);
        TinyJob before = job(1);
        before.setUserData(1);
        TinyJob after = job(1);
        after.setUserData(2);
        queue.submit(before);
        instance.submit(queue);
        queue.submit(after);

        List<Long> order = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            assertThat(retrieve()).isEqualTo(Status.SUCCESS);
            order.add(event.userData());
            assertThat(event.type())
                    .isEqualTo(event.userData() == 100 ? JobType.GRAPH_JOB : TinyJobs.COUNT);
        }
        assertThat(order).containsExactly(1L, 100L, 2L);
        assertThat(queue.inFlightJobs()).isZero();
    }

    @Test
    void shouldReservePlacesOrStartNothing() {
        GraphNode a = jobNode();
        GraphNode b = jobNode();
        graph.start().addTo(queue); // depth 4
        TinyJob plain = job(1);
        TinyJob plain2 = job(1);
        queue.submit(plain);
        queue.submit(plain2);
        GraphInstance instance = instance().setJob(a, job(1)).setJob(b, job(1));
        assertThat(instance.trySubmit(queue)).isEqualTo(Status.NO_MEMORY);
        assertThat(instance.refusal()).hasMessageContaining("places=3");
        Thrown.with(Status.NO_MEMORY, () -> instance.submit(queue));
        assertThat(instance.isInFlight()).isFalse();
        assertThat(instance.state(a)).isEqualTo(NodeState.IDLE);
        assertThat(queue.inFlightJobs()).isEqualTo(2);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        instance.submit(queue);
        assertThat(instance.refusal()).isNull();
        assertThat(queue.inFlightJobs()).isEqualTo(4);
        assertThat(queue.trySubmit(plain)).as("none is left").isEqualTo(Status.NO_MEMORY);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(queue.inFlightJobs()).isZero();
    }

    @Test
    @Clause("core-249")
    void shouldAnswerSuccessAlsoForAFailedInstance() {
        GraphNode fails = jobNode();
        GraphNode runs = jobNode();
        GraphNode child = userNode("child of the failed");
        GraphNode other = userNode("child of the one that runs");
        graph.addDependency(fails, child).addDependency(runs, other);
        graph.start().addTo(queue);
        TinyJob failing = job(1);
        failing.outcome = Status.TOO_BIG;
        GraphInstance instance = instance().setJob(fails, failing).setJob(runs, job(2));
        instance.submit(queue);
        assertThat(next()).isEqualTo(Status.AGAIN);
        assertThat(instance.failures()).as("during the run").isEqualTo(1);
        assertThat(instance.firstFailure()).isSameAs(fails);
        assertThat(instance.state(runs)).isEqualTo(NodeState.RUNNING);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.result()).isEqualTo(Status.TOO_BIG.code());
        assertThat(event.status()).isEqualTo(Status.TOO_BIG);
        assertThat(context.slices).as("the other was awaited").hasValue(3);
        assertThat(ran).isEmpty();
        assertThat(instance.status()).isEqualTo(Status.TOO_BIG);
        assertThat(instance.state(fails)).isEqualTo(NodeState.FAILED);
        assertThat(instance.status(fails)).isEqualTo(Status.TOO_BIG);
        assertThat(instance.status(runs)).isEqualTo(Status.SUCCESS);
        assertThat(instance.state(child)).isEqualTo(NodeState.SKIPPED);
        assertThat(instance.status(child)).isEqualTo(Status.SKIPPED);
        assertThat(instance.state(other)).isEqualTo(NodeState.SKIPPED);
        assertThat(instance.failedNodes()).containsExactly(fails);
        assertThat(instance.failure())
                .hasMessage(
                        "node has failed: node=%s, instance=%s, status=TOO_BIG", fails, instance);

        failing.outcome = Status.SUCCESS;
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.result()).isZero();
        assertThat(ran).hasSize(2);
        assertThat(instance.failures()).isZero();
        assertThat(instance.failure()).isNull();
        assertThat(instance.firstFailure()).isNull();
    }

    @Test
    void shouldFailANodeWhoseJobIsRefused() {
        GraphNode refused = jobNode();
        GraphNode child = userNode("child");
        graph.addDependency(refused, child);
        graph.start().addTo(queue);
        TinyJob job = job(1);
        job.valid = false;
        GraphInstance instance = instance().setJob(refused, job);
        assertThat(instance.trySubmit(queue)).isEqualTo(Status.SUCCESS);
        assertThat(next()).as("the end of the node").isEqualTo(Status.AGAIN);
        assertThat(next()).as("the instance").isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(instance.failure().getCause())
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("job is not valid");
        assertThat(ran).isEmpty();
    }

    @Test
    void shouldTellTheFailureOfASubgraph() {
        Graph subgraph = Graph.create();
        subgraphs.add(subgraph);
        GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
        subgraph.start();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        GraphNode child = userNode("child");
        graph.addDependency(sub, child);
        graph.start().addTo(queue);
        TinyJob failing = job(1);
        failing.outcome = Status.DRIVER;
        GraphInstance held = subgraph.createInstance().setJob(inner, failing);
        GraphInstance instance = instance().setInstance(sub, held);
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.DRIVER);
        assertThat(instance.failure().getCause())
                .hasMessageContaining("node=" + inner)
                .hasMessageContaining("instance=" + held);
        assertThat(held.status()).isEqualTo(Status.DRIVER);
        assertThat(instance.state(child)).isEqualTo(NodeState.SKIPPED);
        open.forEach(GraphInstance::close);
        open.clear();
        held.close();
    }

    @Test
    void shouldThrowTheExceptionOfAUserNodeAndEndTheInstance() {
        IllegalStateException thrown = new IllegalStateException("by a user node");
        GraphNode root =
                graph.addUserNode(object -> {
                    throw thrown;
                });
        GraphNode child = jobNode();
        graph.addDependency(root, child);
        graph.start().addTo(queue);
        GraphInstance instance = instance().setJob(child, job(1));
        instance.submit(queue);
        assertThatThrownBy(this::next).isSameAs(thrown);
        assertThat(next()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(instance.failure()).hasCause(thrown);
        assertThat(instance.state(child)).isEqualTo(NodeState.SKIPPED);
        assertThat(queue.inFlightJobs()).isZero();
    }

    @Test
    void shouldRefuseARetrievalInsideAUserNode() {
        List<Status> statuses = new ArrayList<>();
        GraphNode user =
                graph.addUserNode(object -> {
                    Thrown.with(
                                    Status.NOT_PERMITTED,
                                    () -> queue.progressRetrieve(JobEvent.create()))
                            .hasMessageContaining("inside a user node");
                    TinyJob plain = job(1);
                    statuses.add(queue.trySubmit(plain));
                    return Status.SUCCESS;
                });
        GraphNode node = jobNode();
        graph.addDependency(user, node);
        graph.start().addTo(queue);
        instance().setJob(node, job(1)).submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(statuses).containsExactly(Status.SUCCESS);
    }

    @Test
    void shouldFailTheInstanceWhenTheContextFails() {
        GraphNode node = jobNode();
        GraphNode beside = jobNode();
        graph.start().addTo(queue);
        TinyJob breaking = job(1);
        breaking.breaksContext = true;
        breaking.outcome = Status.IO_FAILED;
        GraphInstance instance = instance().setJob(node, breaking).setJob(beside, job(5));
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).isEqualTo(Status.IO_FAILED);
        assertThat(instance.status(beside)).as("flushed").isEqualTo(Status.SHUTDOWN);
        assertThat(instance.failedNodes()).containsExactly(node, beside);
        instance.submit(queue);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.status()).as("the context has stopped").isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldSignalAnArmedQueue() {
        queue.setEventDriven(true);
        GraphNode user = userNode("root");
        GraphNode node = jobNode();
        graph.addDependency(user, node);
        graph.start().addTo(queue);
        GraphInstance instance = instance().setJob(node, job(1));
        queue.armEvent();
        assertThat(queue.awaitEvent(Duration.ZERO)).isFalse();
        instance.submit(queue);
        int rounds = 0;
        Status retrieved = Status.AGAIN;
        while (retrieved == Status.AGAIN) {
            assertThat(queue.awaitEvent(Patience.LIMIT)).as("round %d", rounds++).isTrue();
            queue.clearEvent();
            retrieved = next();
            queue.armEvent();
        }
        assertThat(retrieved).isEqualTo(Status.SUCCESS);
        queue.clearEvent();
    }

    @Test
    void shouldBeOnSeveralQueuesOfSeveralThreads() throws Exception {
        GraphNode node = jobNode();
        GraphNode user = graph.addUserNode(object -> Status.SUCCESS);
        graph.addDependency(node, user);
        graph.start();
        try (var threads = Executors.newFixedThreadPool(3)) {
            List<CompletableFuture<Integer>> ends = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                ends.add(CompletableFuture.supplyAsync(() -> runOnAQueueOfItsOwn(node), threads));
            }
            for (CompletableFuture<Integer> end : ends) {
                assertThat(end.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(2000);
            }
        }
        assertThat(graph.instances()).isZero();
    }

    private int runOnAQueueOfItsOwn(GraphNode node) {
        JobEvent own = JobEvent.create();
        int ended = 0;
        try (WorkQueue here = WorkQueue.create(4)) {
            here.add(context);
            try (GraphInstance instance = graph.createInstance().setJob(node, context.job())) {
                graph.addTo(here);
                for (int i = 0; i < 2000; i++) {
                    instance.submit(here);
                    while (here.progressRetrieve(own) != Status.SUCCESS) {
                        Thread.onSpinWait();
                    }
                    ended += own.type() == JobType.GRAPH_JOB ? 1 : 0;
                }
            }
        }
        return ended;
    }
}
