package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyObserver;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random graphs compared with a topological model that knows the parents of each node alone, and
 * what the libraries and callbacks have done: with sub-graphs, nodes that fail, submissions that
 * are refused for now, contexts that stop, several instances, and tasks and jobs beside them.
 */
class GraphModelTest {
    private static final int MAX_STEPS = 100_000;
    private static final int DEPTH = 64;

    /** Outcomes of nodes that fail. */
    private static final Status[] FAILURES = {
        Status.IO_FAILED, Status.TOO_BIG, Status.AGAIN, Status.NOT_FOUND, Status.FULL
    };

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private SeededRandom random;

    // What the runs of all seeds have had.
    private long runs;
    private long failedRuns;
    private long nodesStarted;
    private long stops;
    private long plain;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    /** A graph of the model: the parents of each node. */
    private static final class Plan {
        Graph graph;
        final List<GraphNode> nodes = new ArrayList<>();
        final List<List<Integer>> parents = new ArrayList<>();
        final Map<Integer, Plan> subplans = new TreeMap<>();
        final List<Integer> contexts = new ArrayList<>();
    }

    /** An instance of the model: how often each node was started, and how it has ended. */
    private final class Run {
        final Plan plan;
        final GraphInstance instance;
        final int[] starts;
        final @Nullable Status[] done;
        final Status[] planned;
        final @Nullable Run[] subruns;
        int ends;
        int left;

        Run(Plan plan) {
            this.plan = plan;
            instance = plan.graph.createInstance();
            starts = new int[plan.nodes.size()];
            done = new @Nullable Status[starts.length];
            planned = new Status[starts.length];
            subruns = new @Nullable Run[starts.length];
        }

        void begin() {
            for (int i = 0; i < starts.length; i++) {
                starts[i] = 0;
                done[i] = null;
                if (subruns[i] != null) {
                    subruns[i].begin();
                }
            }
        }

        /** A node starts: the first time, after all its parents, and after no failure. */
        void started(int node) {
            nodesStarted++;
            assertThat(instance.isInFlight()).isTrue();
            assertThat(++starts[node]).as("starts of %s", plan.nodes.get(node)).isEqualTo(1);
            for (int parent : plan.parents.get(node)) {
                assertThat(hasSucceeded(parent))
                        .as("%s before %s", plan.nodes.get(parent), plan.nodes.get(node))
                        .isTrue();
            }
            assertThat(instance.failures()).as("failures before a start").isZero();
        }

        private boolean hasSucceeded(int node) {
            Run subrun = subruns[node];
            if (subrun == null) {
                return done[node] == Status.SUCCESS;
            }
            for (int i = 0; i < subrun.starts.length; i++) {
                if (!subrun.hasSucceeded(i)) {
                    return false;
                }
            }
            return true;
        }

        void finished(int node, Status status) {
            assertThat(done[node]).as("ends once").isNull();
            done[node] = status;
        }

        TinyObserver observer(int node) {
            return new TinyObserver() {
                @Override
                public void accepted() {
                    started(node);
                }

                @Override
                public void finished(Status status) {
                    Run.this.finished(node, status);
                }
            };
        }

        /** Number of nodes that have ended, those of sub-graphs included. */
        int endedNodes() {
            int ended = 0;
            for (int i = 0; i < starts.length; i++) {
                NodeState state = instance.state(plan.nodes.get(i));
                if (isEnded(state)) {
                    ended++;
                }
                if (subruns[i] != null && (isEnded(state) || state == NodeState.RUNNING)) {
                    ended += subruns[i].endedNodes();
                }
            }
            return ended;
        }

        private static boolean isEnded(NodeState state) {
            return state == NodeState.COMPLETED || state == NodeState.FAILED;
        }

        /** The run has ended: all that has started has ended, and the rest never will start. */
        void checkEnd() {
            List<GraphNode> failed = new ArrayList<>();
            for (int i = 0; i < starts.length; i++) {
                GraphNode node = plan.nodes.get(i);
                Status status = instance.status(node);
                switch (instance.state(node)) {
                    case COMPLETED -> {
                        assertThat(status).isEqualTo(Status.SUCCESS);
                        assertThat(hasSucceeded(i)).isTrue();
                    }
                    case FAILED -> {
                        failed.add(node);
                        assertThat(status).isNotEqualTo(Status.SUCCESS);
                        checkFailure(i, status);
                    }
                    case SKIPPED -> {
                        assertThat(status).isEqualTo(Status.SKIPPED);
                        assertThat(starts[i]).isZero();
                    }
                    case IDLE, WAITING, RUNNING ->
                            throw new AssertionError(node + " is " + instance.state(node));
                }
                if (subruns[i] != null && instance.state(node) != NodeState.SKIPPED) {
                    subruns[i].checkEnd();
                }
            }
            assertThat(instance.failedNodes()).containsExactlyInAnyOrderElementsOf(failed);
            assertThat(instance.failures()).isEqualTo(failed.size());
            if (failed.isEmpty()) {
                assertThat(instance.firstFailure()).isNull();
                assertThat(instance.status()).isEqualTo(Status.SUCCESS);
                assertThat(hasRunAll()).as("all have run").isTrue();
            } else {
                assertThat(failed).contains(instance.firstFailure());
                assertThat(instance.status()).isEqualTo(instance.status(instance.firstFailure()));
            }
        }

        private boolean hasRunAll() {
            for (int i = 0; i < starts.length; i++) {
                if (subruns[i] == null && starts[i] == 0) {
                    return false;
                }
            }
            return true;
        }

        private void checkFailure(int node, Status status) {
            Run subrun = subruns[node];
            if (subrun != null) {
                assertThat(status).isEqualTo(subrun.instance.status());
            } else if (starts[node] == 0) {
                assertThat(status).as("refused").isEqualTo(Status.BAD_STATE);
            } else {
                assertThat(done[node]).isEqualTo(status);
                assertThat(status).isIn(planned[node], Status.SHUTDOWN);
            }
        }
    }

    // ---- random graphs ----

    /** Queue or engine of a graph, as far as they differ. */
    private interface Driver extends AutoCloseable {
        /** The instances that are submitted, and are no part of others. */
        void attach(List<Run> runs);

        Graph newGraph();

        GraphNode contextNode(Graph graph, int context);

        void setData(Run run, int node, int context);

        /** Makes one step, and reports the instances that have ended. */
        void step();

        void submit(Run run);

        void submitPlain();

        /** Stops a context, or lets the next job of it do that. */
        void stopOne();

        boolean isIdle();

        @Override
        void close();
    }

    private Plan plan(Driver driver, int contexts, int depth) {
        Plan plan = new Plan();
        plan.graph = driver.newGraph();
        int count = 1 + random.nextInt(8);
        int contextNodes = 0;
        for (int i = 0; i < count; i++) {
            int kind = random.nextInt(10);
            int index = i;
            if (kind < 2 && depth > 0) {
                Plan subplan = plan(driver, contexts, depth - 1);
                plan.subplans.put(index, subplan);
                plan.nodes.add(plan.graph.addSubgraphNode(subplan.graph));
                plan.contexts.add(-1);
                contextNodes++;
            } else if (kind < 5 && (i < count - 1 || contextNodes > 0)) {
                plan.nodes.add(plan.graph.addUserNode(object -> ((UserNode) object).call()));
                plan.contexts.add(-1);
            } else {
                int context = random.nextInt(contexts);
                plan.nodes.add(driver.contextNode(plan.graph, context));
                plan.contexts.add(context);
                contextNodes++;
            }
            plan.parents.add(new ArrayList<>());
        }
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(random.nextLong()));
        double density = random.nextDouble();
        for (int to = 1; to < count; to++) {
            for (int from = 0; from < to; from++) {
                if (random.chance(density)) {
                    plan.graph.addDependency(
                            plan.nodes.get(order.get(from)), plan.nodes.get(order.get(to)));
                    plan.parents.get(order.get(to)).add(order.get(from));
                }
            }
        }
        plan.graph.start();
        return plan;
    }

    /** Action of a user node in one instance. */
    private record UserNode(Run run, int node) {
        Status call() {
            run.started(node);
            Status status = run.planned[node];
            run.finished(node, status);
            if (status == Status.UNEXPECTED) {
                throw new IllegalStateException("planned");
            }
            return status;
        }
    }

    private Run newRun(Driver driver, Plan plan) {
        Run run = new Run(plan);
        for (int i = 0; i < plan.nodes.size(); i++) {
            if (plan.subplans.containsKey(i)) {
                Run subrun = newRun(driver, plan.subplans.get(i));
                run.subruns[i] = subrun;
                run.instance.setInstance(plan.nodes.get(i), subrun.instance);
            } else if (plan.contexts.get(i) < 0) {
                run.instance.setObject(plan.nodes.get(i), new UserNode(run, i));
            } else {
                driver.setData(run, i, plan.contexts.get(i));
            }
        }
        return run;
    }

    /** Chooses outcomes of the nodes; some fail. */
    private void choose(Run run, double failing) {
        for (int i = 0; i < run.planned.length; i++) {
            run.planned[i] = random.chance(failing) ? random.oneOf(FAILURES) : Status.SUCCESS;
            if (run.subruns[i] != null) {
                choose(run.subruns[i], failing);
            } else if (run.plan.contexts.get(i) < 0 && random.chance(failing / 2)) {
                run.planned[i] = Status.UNEXPECTED; // throws
            }
        }
    }

    private void closeAll(Run run) {
        run.instance.close();
        for (Run subrun : run.subruns) {
            if (subrun != null) {
                closeAll(subrun);
            }
        }
    }

    private void closeAll(Plan plan) {
        plan.graph.close();
        plan.subplans.values().forEach(this::closeAll);
    }

    private void ended(Run run) {
        assertThat(run.ends++).as("ends once").isZero();
        assertThat(run.instance.isInFlight()).isFalse();
        run.checkEnd();
        runs++;
        failedRuns += run.instance.failures() > 0 ? 1 : 0;
    }

    private void play(Driver driver, int contexts) {
        Plan plan = plan(driver, contexts, random.nextInt(3));
        if (driver instanceof QueueDriver queue) {
            plan.graph.addTo(queue.queue);
        }
        List<Run> all = new ArrayList<>();
        int instances = 1 + random.nextInt(4);
        for (int i = 0; i < instances; i++) {
            Run run = newRun(driver, plan);
            run.left = 1 + random.nextInt(3);
            run.instance.setUserData(i);
            all.add(run);
        }
        driver.attach(all);
        double failing = random.chance(0.5) ? 0 : random.nextDouble() / 4;
        boolean stopping = random.chance(0.2);
        int steps = 0;
        while (!driver.isIdle() || all.stream().anyMatch(run -> run.left > 0)) {
            assertThat(steps++).as("steps").isLessThan(MAX_STEPS);
            Run run = all.get(random.nextInt(instances));
            int action = random.nextInt(8);
            if (action == 0 && run.left > 0 && !run.instance.isInFlight()) {
                choose(run, failing);
                run.begin();
                run.ends = 0;
                driver.submit(run);
            } else if (action == 1 && random.chance(0.3)) {
                driver.submitPlain();
            } else if (action == 2 && stopping && random.chance(0.05)) {
                driver.stopOne();
                stops++;
            } else {
                driver.step();
            }
        }
        all.forEach(this::closeAll);
        if (driver instanceof QueueDriver queue) {
            plan.graph.removeFrom(queue.queue);
        }
        closeAll(plan);
    }

    // ---- queues ----

    private final class QueueDriver implements Driver {
        final WorkQueue queue = WorkQueue.create(DEPTH);
        private final List<TinyJobs> contexts = new ArrayList<>();
        private final JobEvent event = JobEvent.create();
        private List<Run> all = List.of();
        private int plainInFlight;
        private int stopNext = -1;

        QueueDriver(int count) {
            for (int i = 0; i < count; i++) {
                TinyJobs context = new TinyJobs("tiny", device);
                context.start();
                queue.add(context);
                contexts.add(context);
            }
        }

        @Override
        public void attach(List<Run> runs) {
            all = runs;
        }

        @Override
        public Graph newGraph() {
            return Graph.create();
        }

        @Override
        public GraphNode contextNode(Graph graph, int context) {
            return graph.addContextNode(contexts.get(context), TinyJobs.COUNT);
        }

        @Override
        public void setData(Run run, int node, int context) {
            TinyJob job = contexts.get(context).job();
            job.setSlices(1 + random.nextInt(3));
            job.atOnce = random.chance(0.2);
            job.refusedForNow = () -> random.chance(0.2);
            TinyObserver observer = run.observer(node);
            job.observer =
                    new TinyObserver() {
                        @Override
                        public void accepted() {
                            observer.accepted();
                            job.breaksContext = stopNext == context && !job.atOnce;
                            if (job.breaksContext) {
                                run.planned[node] = Status.IO_FAILED;
                                stopNext = -1;
                            }
                            job.outcome = run.planned[node];
                        }

                        @Override
                        public void finished(Status status) {
                            observer.finished(status);
                        }
                    };
            run.instance.setJob(run.plan.nodes.get(node), job);
        }

        @Override
        public void submit(Run run) {
            Status submitted = run.instance.trySubmit(queue);
            if (submitted == Status.SUCCESS) {
                run.left--;
            } else {
                assertThat(submitted).isEqualTo(Status.NO_MEMORY);
                assertThat(run.starts).as("nothing was started").containsOnly(0);
                if (queue.inFlightJobs() == 0) {
                    run.left = 0; // needs more places than there are
                }
            }
        }

        @Override
        public void submitPlain() {
            TinyJob job = contexts.get(random.nextInt(contexts.size())).job();
            job.setUserData(-1);
            job.setSlices(1 + random.nextInt(3));
            if (queue.trySubmit(job) == Status.SUCCESS) {
                plainInFlight++;
            }
        }

        @Override
        public void stopOne() {
            stopNext = random.nextInt(contexts.size());
        }

        @Override
        public void step() {
            int before = endedNodes();
            Status retrieved;
            try {
                retrieved = queue.progressRetrieve(event);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("planned");
                retrieved = Status.AGAIN;
            }
            int handled = endedNodes() - before;
            switch (retrieved) {
                case AGAIN -> assertThat(handled).as("ends in one call").isBetween(0, 1);
                case SUCCESS, IO_FAILED -> {
                    assertThat(handled).as("ends beside a completion").isZero();
                    if (event.type().equals(JobType.GRAPH_JOB)) {
                        Run run = all.get((int) event.userData());
                        assertThat(retrieved).isEqualTo(Status.SUCCESS);
                        assertThat(event.userObject()).isSameAs(run.instance);
                        assertThat(event.result()).isEqualTo(run.instance.status().code());
                        ended(run);
                    } else {
                        plainInFlight--;
                        plain++;
                        assertThat(event.userData()).isEqualTo(-1);
                    }
                }
                default -> {
                    AssertionError defect = new AssertionError("retrieved " + retrieved);
                    contexts.forEach(context -> {
                        if (context.failure() != null) {
                            defect.addSuppressed(context.failure());
                        }
                    });
                    throw defect;
                }
            }
        }

        private int endedNodes() {
            int ended = 0;
            for (Run run : all) {
                ended += run.endedNodes();
            }
            return ended;
        }

        @Override
        public boolean isIdle() {
            assertThat(plainInFlight).isNotNegative();
            return queue.inFlightJobs() == 0;
        }

        @Override
        public void close() {
            assertThat(plainInFlight).isZero();
            queue.close();
            contexts.forEach(TinyJobs::close);
        }
    }

    // ---- engines ----

    private final class EngineDriver implements Driver {
        private final ProgressEngine engine = ProgressEngine.create();
        private final List<TinyContext> contexts = new ArrayList<>();
        private final List<TinyTask> tasks = new ArrayList<>();
        private final Map<GraphInstance, Run> runOf = new IdentityHashMap<>();
        private final List<TinyTask> idle = new ArrayList<>();

        EngineDriver(int count) {
            for (int i = 0; i < count; i++) {
                TinyContext context = new TinyContext(device);
                context.setQueueDepth(512);
                engine.connect(context);
                context.start();
                context.setQueueCapacity(1 + random.nextInt(6));
                contexts.add(context);
            }
            for (int i = 0; i < 3; i++) {
                TinyTask task = contexts.get(random.nextInt(count)).allocate();
                task.setCallback(done -> {
                    plain++;
                    idle.add(done);
                });
                idle.add(task);
                tasks.add(task);
            }
        }

        @Override
        public void attach(List<Run> runs) {
            runs.forEach(run -> runOf.put(run.instance, run));
        }

        @Override
        public Graph newGraph() {
            return Graph.create(engine)
                    .setCallbacks(
                            instance -> end(instance, true), instance -> end(instance, false));
        }

        private void end(GraphInstance instance, boolean succeeded) {
            Run run = runOf.get(instance);
            assertThat(run).as("an instance that is no part of another").isNotNull();
            assertThat(instance.failures() == 0).isEqualTo(succeeded);
            ended(run);
        }

        @Override
        public GraphNode contextNode(Graph graph, int context) {
            return graph.addContextNode(contexts.get(context));
        }

        @Override
        public void setData(Run run, int node, int context) {
            TinyTask task = contexts.get(context).allocate();
            task.setCallback(done -> {
                throw new AssertionError("callback of a node's task");
            });
            TinyObserver observer = run.observer(node);
            task.observer =
                    new TinyObserver() {
                        @Override
                        public void accepted() {
                            observer.accepted();
                            task.outcome = run.planned[node];
                        }

                        @Override
                        public void finished(Status status) {
                            observer.finished(status);
                        }
                    };
            tasks.add(task);
            run.instance.setTask(run.plan.nodes.get(node), task);
        }

        @Override
        public void submit(Run run) {
            run.left--;
            run.instance.submit();
        }

        @Override
        public void submitPlain() {
            if (!idle.isEmpty() && idle.getLast().trySubmit() == Status.SUCCESS) {
                idle.removeLast();
            }
        }

        @Override
        public void stopOne() {
            contexts.get(random.nextInt(contexts.size())).stop();
        }

        @Override
        public void step() {
            try {
                if (random.chance(0.1)) {
                    engine.requestNotification();
                    if (!isIdle()) {
                        assertThat(engine.awaitNotification(Patience.LIMIT))
                                .as("work is signalled")
                                .isTrue();
                    }
                    engine.clearNotification();
                }
                engine.progress();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("planned");
            }
        }

        @Override
        public boolean isIdle() {
            return engine.inFlightTasks() == 0;
        }

        @Override
        public void close() {
            tasks.forEach(Task::free);
            contexts.forEach(TinyContext::close);
            engine.close();
        }
    }

    // ---- the tests ----

    private void playSeeds(String name, SeededRandom seeded, boolean sanitized, boolean queues) {
        long begin = System.nanoTime();
        int seeds = Soak.count(250, 250, 25_000);
        for (int i = 0; i < seeds; i++) {
            random = seeded.fork();
            int contexts = 1 + random.nextInt(3);
            if (!sanitized) {
                playOne(i, contexts, queues);
                continue;
            }
            try (Sanitizer sanitizer = Sanitizer.startForThread(random.nextLong())) {
                playOne(i, contexts, queues);
                assertThat(sanitizer.reports()).isZero();
            }
        }
        Soak.report(
                name,
                seeded.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "graphs=%d, runs=%d, failedRuns=%d, nodes=%d, stops=%d, plain=%d",
                        seeds, runs, failedRuns, nodesStarted, stops, plain));
        assertThat(failedRuns).isBetween(1L, runs - 1);
        assertThat(stops).isPositive();
        assertThat(plain).isPositive();
    }

    private void playOne(int number, int contexts, boolean queues) {
        try (Driver driver = queues ? new QueueDriver(contexts) : new EngineDriver(contexts)) {
            play(driver, contexts);
        } catch (AssertionError e) {
            throw new AssertionError("graph " + number + ": " + e.getMessage(), e);
        }
    }

    @Test
    @Tag(Soak.TAG)
    @Clause({"core-227", "core-232", "core-233"})
    void shouldRunRandomGraphsOnQueues(SeededRandom seeded) {
        playSeeds("graphs-on-queues", seeded, false, true);
    }

    @Test
    @Tag(Soak.TAG)
    void shouldRunRandomGraphsOnEngines(SeededRandom seeded) {
        playSeeds("graphs-on-engines", seeded, false, false);
    }

    @Test
    @Tag(Soak.TAG)
    void shouldRunRandomGraphsOnSanitizedQueues(SeededRandom seeded) {
        playSeeds("sanitized-graphs-on-queues", seeded, true, true);
    }

    @Test
    @Tag(Soak.TAG)
    void shouldRunRandomGraphsOnSanitizedEngines(SeededRandom seeded) {
        playSeeds("sanitized-graphs-on-engines", seeded, true, false);
    }
}
