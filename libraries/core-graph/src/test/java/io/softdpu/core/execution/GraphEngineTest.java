package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Graph instances on a progress engine. */
class GraphEngineTest {

    @TempDir Path folder;
    private Machines machines;
    private ProgressEngine engine;
    private TinyContext context;
    private TinyContext other;
    private Graph graph;
    private final List<String> calls = new ArrayList<>();
    private final List<GraphInstance> open = new ArrayList<>();
    private final List<TinyTask> tasks = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        Device device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        other = machines.add(new TinyContext(device));
        engine.connect(context);
        engine.connect(other);
        context.start();
        other.start();
        graph = Graph.create(engine);
        graph.setCallbacks(i -> calls.add("success"), i -> calls.add("failure " + i.status()));
    }

    @AfterEach
    void close() throws Exception {
        for (int i = 0; engine.inFlightTasks() > 0 && i < 100; i++) {
            context.allow(1);
            other.allow(1);
            engine.progress();
        }
        open.forEach(GraphInstance::close);
        tasks.forEach(Task::free);
        graph.close();
        machines.close();
    }

    private TinyTask task(TinyContext of) {
        TinyTask task = of.allocate();
        task.setCallback(done -> calls.add("callback of the task"));
        tasks.add(task);
        return task;
    }

    private GraphInstance instance() {
        GraphInstance created = graph.createInstance();
        open.add(created);
        return created;
    }

    private void progressUntilEnded(GraphInstance instance) {
        for (int i = 0; instance.isInFlight(); i++) {
            assertThat(i).isLessThan(1000);
            engine.progress();
        }
    }

    @Test
    @Clause({"core-230", "core-233", "core-234"})
    void shouldRunTasksInOrderWithoutTheirCallbacks() {
        GraphNode first = graph.addContextNode(context);
        GraphNode user =
                graph.addUserNode(object -> {
                    calls.add("user " + object);
                    return Status.SUCCESS;
                });
        GraphNode last = graph.addContextNode(other);
        graph.addDependency(first, user).addDependency(user, last);
        graph.start();
        TinyTask task = task(context);
        GraphInstance instance =
                instance().setTask(first, task).setObject(user, "x").setTask(last, task(other));

        instance.submit();
        assertThat(instance.state(first)).isEqualTo(NodeState.RUNNING);
        assertThat(instance.status()).isEqualTo(Status.IN_PROGRESS);
        assertThat(task.status()).isEqualTo(Status.IN_PROGRESS);
        assertThat(engine.inFlightTasks()).as("a task and the instance").isEqualTo(2);
        assertThat(engine.progress()).isTrue();
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("user x", "success");
        assertThat(instance.status()).isEqualTo(Status.SUCCESS);
        assertThat(task.status()).isEqualTo(Status.SUCCESS);
        assertThat(engine.inFlightTasks()).isZero();
        assertThat(engine.progress()).isFalse();

        calls.clear();
        instance.close();
        task.submit(); // by itself it has its callback
        engine.progress();
        assertThat(calls).containsExactly("callback of the task");
    }

    @Test
    void shouldRefuseAContextThatIsNotOnTheEngine() {
        Device device = machines.device(Side.HOST, "pf0");
        TinyContext elsewhere = machines.add(new TinyContext(device));
        graph.addContextNode(elsewhere);
        Thrown.with(Status.BAD_STATE, graph::start)
                .hasMessageContaining("context of a node is not running");
        try (ProgressEngine second = ProgressEngine.create()) {
            second.connect(elsewhere);
            elsewhere.start();
            Thrown.with(Status.BAD_STATE, graph::start)
                    .hasMessage(
                            "context of a node is not on the engine of the graph: graph=%s,"
                                    + " context=%s, expected=ProgressEngine.connect",
                            graph, elsewhere);
            elsewhere.close();
        }
    }

    @Test
    void shouldBelongToTheThreadOfTheEngine() throws Exception {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        GraphInstance instance = instance().setTask(node, task(context));
        CompletableFuture.runAsync(
                        () -> {
                            Thrown.with(Status.NOT_PERMITTED, graph::createInstance);
                            Thrown.with(Status.NOT_PERMITTED, graph::stop);
                            Thrown.with(Status.NOT_PERMITTED, instance::trySubmit);
                            Thrown.with(Status.NOT_PERMITTED, instance::close);
                            Thrown.with(Status.NOT_PERMITTED, () -> Graph.create(engine));
                        })
                .get(Patience.SECONDS, TimeUnit.SECONDS);
        WorkQueue queue = machines.add(WorkQueue.create(2));
        Thrown.with(Status.NOT_PERMITTED, () -> graph.addTo(queue))
                .hasMessageContaining("graph is for an engine");
        assertThat(instance.trySubmit(queue)).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    @Clause("core-236")
    void shouldHoldItsTasks() {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        TinyTask task = task(context);
        GraphInstance instance = instance().setTask(node, task);
        GraphInstance second = instance();
        Thrown.with(Status.NOT_PERMITTED, () -> second.setTask(node, task(other)))
                .hasMessageContaining("node=" + node)
                .hasMessageContaining("task=TinyTask of " + other);
        Thrown.with(Status.IN_USE, () -> second.setTask(node, task))
                .hasMessageContaining("instance=" + instance);
        Thrown.with(Status.IN_USE, task::free)
                .hasMessage(
                        "a node of a graph holds the task: task=TinyTask, context=%s, node=%s,"
                                + " instance=%s, expected=close of the instance first",
                        context, node, instance);
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        assertThat(task.refusal()).hasMessageContaining("a node of a graph holds the task");
        assertThat(context.trySubmitAll(new Task[] {task}, 0, 1)).isZero();
        task.setCallback(null); // may be changed while not in flight
        context.completesByItself = false;
        instance.submit();
        Thrown.with(Status.IN_USE, task::free);
        Thrown.with(Status.IN_USE, () -> task.setCallback(null));
        Thrown.with(Status.IN_USE, instance::close);
        context.allow(1);
        progressUntilEnded(instance);
        instance.close();
        open.remove(instance);
        second.setTask(node, task);
        TinyTask freed = context.allocate();
        freed.free();
        Thrown.with(Status.BAD_STATE, () -> second.setTask(node, freed));
    }

    @Test
    void shouldNotChangeATaskOfANodeThatWaits() {
        GraphNode first = graph.addContextNode(context);
        GraphNode second = graph.addContextNode(context);
        graph.addDependency(first, second).start();
        context.completesByItself = false;
        TinyTask waits = task(context);
        GraphInstance instance = instance().setTask(first, task(context)).setTask(second, waits);
        instance.submit();
        Thrown.with(Status.IN_USE, () -> waits.setCallback(null))
                .hasMessageContaining("expected=a change by a user node, or after the instance");
        context.allow(2);
        progressUntilEnded(instance);
        waits.setCallback(null);
        assertThat(calls).containsExactly("success");
    }

    @Test
    void shouldSubmitAgainInItsCallback() {
        Graph repeated = Graph.create(engine);
        int[] left = {3};
        repeated.setCallbacks(
                ended -> {
                    calls.add("end");
                    if (--left[0] > 0) {
                        assertThat(ended.isInFlight()).isFalse();
                        ended.submit();
                    }
                },
                ended -> calls.add("failure"));
        GraphNode node = repeated.addContextNode(context);
        repeated.start();
        GraphInstance instance = repeated.createInstance().setTask(node, task(context));
        instance.submit();
        for (int i = 0; left[0] > 0; i++) {
            assertThat(i).isLessThan(1000);
            engine.progress();
        }
        assertThat(calls).containsExactly("end", "end", "end");
        assertThat(engine.inFlightTasks()).isZero();
        instance.close();
        repeated.close();
    }

    /** Each run of it fails at once, in the progress that has begun it. */
    @Test
    void shouldEndAPassThoughACallbackSubmitsAgainEachTime() {
        Graph repeated = Graph.create(engine);
        int[] ends = new int[1];
        repeated.setCallbacks(
                ended -> {},
                ended -> {
                    if (++ends[0] < 10_000) {
                        ended.submit();
                    }
                });
        GraphNode node = repeated.addContextNode(context);
        repeated.start();
        TinyTask task = task(context);
        task.valid = false;
        GraphInstance instance = repeated.createInstance().setTask(node, task);
        instance.submit();
        assertThat(engine.progress()).isTrue();
        assertThat(ends[0]).isBetween(1, 1000);
        while (instance.isInFlight()) {
            engine.progress();
        }
        assertThat(ends[0]).isEqualTo(10_000);
        instance.close();
        repeated.close();
    }

    @Test
    void shouldRepeatASubmissionThatWasRefusedForNow() {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        context.setQueueCapacity(0);
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        assertThat(instance.state(node)).isEqualTo(NodeState.WAITING);
        for (int i = 0; i < 5; i++) {
            assertThat(engine.progress()).as("a refusal is no work").isFalse();
        }
        assertThat(instance.status(node)).isEqualTo(Status.IN_PROGRESS);
        context.setQueueCapacity(1);
        assertThat(engine.progress()).isTrue();
        assertThat(instance.state(node)).isEqualTo(NodeState.RUNNING);
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("success");
    }

    @Test
    void shouldFailTheInstanceWhenAContextStops() {
        GraphNode one = graph.addContextNode(context);
        GraphNode two = graph.addContextNode(other);
        GraphNode child = graph.addContextNode(other);
        graph.addDependency(two, child).start();
        context.completesByItself = false;
        other.completesByItself = false;
        GraphInstance instance =
                instance()
                        .setTask(one, task(context))
                        .setTask(two, task(other))
                        .setTask(child, task(other));
        instance.submit();
        context.stop();
        engine.progress();
        assertThat(instance.status(one)).isEqualTo(Status.SHUTDOWN);
        assertThat(instance.state(two)).as("is awaited").isEqualTo(NodeState.RUNNING);
        assertThat(instance.isInFlight()).isTrue();
        assertThat(instance.failures()).isEqualTo(1);
        other.allow(1);
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("failure SHUTDOWN");
        assertThat(instance.state(two)).isEqualTo(NodeState.COMPLETED);
        assertThat(instance.status(child)).isEqualTo(Status.SKIPPED);
        assertThat(instance.firstFailure()).isSameAs(one);

        calls.clear();
        instance.submit();
        other.allow(1);
        progressUntilEnded(instance);
        assertThat(calls).as("it does not run any more").containsExactly("failure BAD_STATE");
        assertThat(instance.failure().getCause()).hasMessageContaining("context is not running");
    }

    @Test
    @Clause({"core-231", "core-282"})
    void shouldRunUserNodesThatAreRootsInsideTheSubmission() {
        GraphNode root =
                graph.addUserNode(object -> {
                    calls.add("root");
                    return Status.SUCCESS;
                });
        GraphNode node = graph.addContextNode(context);
        GraphNode child =
                graph.addUserNode(object -> {
                    calls.add("child");
                    return Status.SUCCESS;
                });
        graph.addDependency(root, child).start();
        GraphInstance instance = instance().setTask(node, task(context));

        instance.submit();

        assertThat(calls).as("without progress").containsExactly("root");
        assertThat(instance.state(root)).isEqualTo(NodeState.RUNNING);
        assertThat(instance.state(node)).isEqualTo(NodeState.RUNNING);
        assertThat(instance.state(child)).isEqualTo(NodeState.WAITING);
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("root", "child", "success");
    }

    /** What a callback may do in progress it may do at the submission. */
    @Test
    @Clause("core-282")
    void shouldLetARootSubmitAllocateAndStopAtTheSubmissionAsInProgress() {
        Graph another = Graph.create(engine);
        another.setCallbacks(i -> calls.add("another ended"), i -> calls.add("another failed"));
        another.addUserNode(object -> {
            calls.add("another");
            return Status.SUCCESS;
        });
        GraphNode ofAnother = another.addContextNode(other);
        another.start();
        GraphInstance second = another.createInstance().setTask(ofAnother, task(other));
        graph.addUserNode(object -> {
            Thrown.with(Status.NOT_PERMITTED, engine::progress);
            Thrown.with(Status.NOT_PERMITTED, () -> engine.awaitNotification(Duration.ZERO));
            Thrown.with(Status.IN_USE, engine::close);
            Thrown.with(Status.IN_USE, graph::stop);
            TinyTask extra = task(context);
            extra.submit();
            second.submit();
            Thrown.with(Status.NOT_PERMITTED, engine::progress); // still inside the first
            return Status.SUCCESS;
        });
        GraphNode beside = graph.addContextNode(other);
        graph.start();
        GraphInstance instance = instance().setTask(beside, task(other));

        instance.submit();

        assertThat(calls).containsExactly("another");
        assertThat(instance.isInFlight()).isTrue();
        progressUntilEnded(instance);
        progressUntilEnded(second);
        assertThat(calls)
                .containsExactlyInAnyOrder(
                        "another", "another ended", "success", "callback of the task");
        assertThat(engine.inFlightTasks()).isZero();
        second.close();
        another.close();
    }

    /** A stop of a context in such a callback is that of one in progress. */
    @Test
    @Clause("core-282")
    void shouldLetARootStopAContextAtTheSubmission() {
        GraphNode root =
                graph.addUserNode(object -> {
                    other.stop();
                    return Status.SUCCESS;
                });
        GraphNode node = graph.addContextNode(other);
        graph.addDependency(root, node).start();
        GraphInstance instance = instance().setTask(node, task(other));
        instance.submit();
        progressUntilEnded(instance);
        assertThat(instance.state(root)).isEqualTo(NodeState.COMPLETED);
        assertThat(instance.status(node)).isEqualTo(Status.BAD_STATE);
        assertThat(calls).containsExactly("failure BAD_STATE");
    }

    @Test
    void shouldThrowTheExceptionOfAUserNodeAtTheEndOfThePass() {
        IllegalStateException thrown = new IllegalStateException("by a user node");
        graph.addUserNode(object -> {
            throw thrown;
        });
        GraphNode node = graph.addContextNode(context);
        graph.start();
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        assertThatThrownBy(engine::progress).isSameAs(thrown);
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("failure UNEXPECTED");
        assertThat(instance.failure()).hasCause(thrown);
        assertThat(instance.status(node)).as("ran").isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldFailAUserNodeThatReturnsNull() {
        graph.addUserNode(object -> null);
        GraphNode node = graph.addContextNode(context);
        graph.start();
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        assertThatThrownBy(
                        () -> {
                            engine.progress();
                            engine.progress();
                        })
                .hasMessageContaining("user node has returned null");
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("failure UNEXPECTED");
    }

    @Test
    void shouldThrowTheExceptionOfACallback() {
        Graph throwing = Graph.create(engine);
        IllegalStateException thrown = new IllegalStateException("by a callback");
        throwing.setCallbacks(
                ended -> {
                    throw thrown;
                },
                ended -> {});
        GraphNode node = throwing.addContextNode(context);
        throwing.start();
        GraphInstance instance = throwing.createInstance().setTask(node, task(context));
        instance.submit();
        assertThatThrownBy(
                        () -> {
                            engine.progress();
                            engine.progress();
                        })
                .isSameAs(thrown);
        assertThat(instance.isInFlight()).isFalse();
        instance.close();
        throwing.close();
    }

    @Test
    @Clause("core-238")
    void shouldRunASubgraphWithoutItsCallbacks() {
        Graph subgraph = Graph.create(engine);
        subgraph.setCallbacks(i -> calls.add("sub-graph"), i -> calls.add("sub-graph"));
        GraphNode inner = subgraph.addContextNode(context);
        subgraph.start();
        GraphNode sub = graph.addSubgraphNode(subgraph);
        GraphNode after =
                graph.addUserNode(object -> {
                    calls.add("after");
                    return Status.SUCCESS;
                });
        graph.addDependency(sub, after).start();
        GraphInstance held = subgraph.createInstance().setTask(inner, task(context));
        GraphInstance instance = instance().setInstance(sub, held);
        instance.submit();
        assertThat(engine.inFlightTasks()).as("a task and one instance").isEqualTo(2);
        assertThat(held.isInFlight()).isTrue();
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("after", "success");
        assertThat(held.isInFlight()).isFalse();
        instance.close();
        held.submit();
        progressUntilEnded(held);
        assertThat(calls).containsExactly("after", "success", "sub-graph");
        held.close();
        graph.close();
        subgraph.close();
    }

    @Test
    void shouldBeNamedByTheEngineThatCannotBeClosed() throws Exception {
        ProgressEngine here = ProgressEngine.create();
        TinyContext tiny = new TinyContext(context.device());
        here.connect(tiny);
        tiny.start();
        Graph onIt = Graph.create(here);
        GraphNode node = onIt.addContextNode(tiny);
        onIt.start();
        Thrown.with(Status.IN_USE, here::close)
                .hasMessage(
                        "contexts and graphs are started on the engine: contexts=1, graphs=1,"
                                + " first=%s",
                        tiny);
        Thrown.with(Status.BAD_STATE, () -> here.setEventMode(EventMode.ALL))
                .hasMessageContaining("contexts=1, graphs=1");
        tiny.completesByItself = false;
        TinyTask task = tiny.allocate();
        GraphInstance instance = onIt.createInstance().setTask(node, task);
        instance.submit();
        Thrown.with(Status.TIME_OUT, () -> here.runUntil(() -> false, Duration.ofMillis(1)))
                .hasMessageContaining("graph=%s, inFlightInstances=1", onIt);
        tiny.allow(1);
        here.runUntil(() -> !instance.isInFlight(), Patience.LIMIT);
        instance.close();
        task.free();
        tiny.close();
        Thrown.with(Status.IN_USE, here::close)
                .hasMessage("graphs are started on the engine: graphs=1, first=%s", onIt);
        onIt.close();
        here.close();
    }

    // ---- waiting ----

    @Test
    void shouldEndAnAwaitWithAllNodes() {
        GraphNode first = graph.addContextNode(context);
        GraphNode user = graph.addUserNode(object -> Status.SUCCESS);
        GraphNode last = graph.addContextNode(other);
        graph.addDependency(first, user).addDependency(user, last).start();
        GraphInstance instance =
                instance().setTask(first, task(context)).setTask(last, task(other));
        instance.submit();
        engine.runUntil(() -> !instance.isInFlight(), Patience.LIMIT);
        assertThat(calls).containsExactly("success");
    }

    @Test
    void shouldSignalTheNotificationOfAnInstanceSubmittedAfterTheRequest() {
        graph.addUserNode(object -> {
            calls.add("user");
            return Status.SUCCESS;
        });
        GraphNode node = graph.addContextNode(context);
        graph.start();
        context.setQueueCapacity(0); // so that the task of the node signals nothing
        GraphInstance instance = instance().setTask(node, task(context));
        engine.requestNotification();
        assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
        instance.submit();
        assertThat(calls).containsExactly("user");
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        assertThat(engine.progress()).as("the end of the user node").isTrue();
        context.setQueueCapacity(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndAnInstanceOfWhichASubmissionThrowsAnError(boolean atRoot) {
        Error error = new InternalError("memory cannot be read");
        GraphNode first = graph.addContextNode(context);
        GraphNode last = graph.addContextNode(context);
        graph.addDependency(first, last).start();
        TinyTask before = task(context);
        TinyTask after = task(context);
        (atRoot ? before : after).submissionError = error;
        GraphInstance instance = instance().setTask(first, before).setTask(last, after);
        instance.submit();
        assertThatThrownBy(() -> progressUntilEnd(instance)).isSameAs(error);
        progressUntilEnd(instance);
        assertThat(calls).containsExactly("failure UNEXPECTED");
        assertThat(instance.failure()).hasRootCause(error);
        assertThat(engine.inFlightTasks()).isZero();
    }

    private void progressUntilEnd(GraphInstance instance) {
        for (int i = 0; i < 100 && instance.isInFlight(); i++) {
            context.allow(1);
            engine.progress();
        }
        assertThat(instance.isInFlight()).isFalse();
    }

    @Test
    void shouldBeSelectedAfterANotificationOfItsContext() {
        GraphNode first = graph.addContextNode(context);
        GraphNode user =
                graph.addUserNode(object -> {
                    calls.add("user");
                    return Status.SUCCESS;
                });
        graph.addDependency(first, user).start();
        GraphInstance instance = instance().setTask(first, task(context));
        assertThat(engine.eventMode()).isEqualTo(EventMode.SELECTIVE);
        instance.submit();
        engine.requestNotification();
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification(); // the graph has no work of its own now
        assertThat(engine.progress()).isTrue();
        assertThat(calls).as("in the same pass").containsExactly("user", "success");
        assertThat(instance.isInFlight()).isFalse();
    }

    @Test
    void shouldRepeatASubmissionAfterANotificationOfAnotherContext() {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        context.setQueueCapacity(0);
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        engine.progress();
        TinyTask plain = task(other);
        engine.requestNotification();
        context.setQueueCapacity(1);
        plain.submit();
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        assertThat(engine.progress()).isTrue();
        assertThat(instance.state(node)).isEqualTo(NodeState.RUNNING);
        progressUntilEnded(instance);
        assertThat(calls).containsExactly("callback of the task", "success");
    }

    @Test
    void shouldSleepWhileANodeIsRefusedForNow() {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        context.setQueueCapacity(0);
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        engine.progress();
        engine.requestNotification();
        assertThat(engine.awaitNotification(Duration.ZERO))
                .as("a node that was refused is no work")
                .isFalse();
        context.setQueueCapacity(1);
        context.postWork(() -> {}); // work of any member
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        engine.runUntil(() -> !instance.isInFlight(), Patience.LIMIT);
        assertThat(calls).containsExactly("success");
    }

    @Test
    void shouldRepeatARefusedSubmissionAfterAStopThatCompletesNothing() {
        GraphNode node = graph.addContextNode(context);
        graph.start();
        context.setQueueCapacity(0);
        GraphInstance instance = instance().setTask(node, task(context));
        instance.submit();
        engine.progress();
        context.stop();
        engine.requestNotification();
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        engine.progress();
        assertThat(instance.status()).isEqualTo(Status.BAD_STATE);
        assertThat(calls).containsExactly("failure BAD_STATE");
    }
}
