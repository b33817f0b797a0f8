package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.testkit.AllocationMeter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of ten instances, with a sub-graph, which allocate nothing. */
class GraphAllocationTest {
    private static final int INSTANCES = 10;
    private static final int ROUNDS = 5_000;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private int ends;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    void shouldRunOnAnEngineWithoutAllocation() {
        try (ProgressEngine engine = ProgressEngine.create();
                TinyContext context = new TinyContext(device)) {
            context.setQueueDepth(3 * INSTANCES);
            engine.connect(context);
            context.start();
            try (Graph subgraph = Graph.create(engine);
                    Graph graph = Graph.create(engine)) {
                context.setQueueCapacity(INSTANCES / 2); // so that nodes are refused for now
                GraphNode inner = subgraph.addContextNode(context);
                subgraph.start();
                GraphNode one = graph.addContextNode(context);
                GraphNode two = graph.addContextNode(context);
                GraphNode sub = graph.addSubgraphNode(subgraph);
                GraphNode user = graph.addUserNode(object -> Status.SUCCESS);
                graph.addDependency(one, sub).addDependency(two, user).addDependency(sub, user);
                graph.setCallbacks(ended -> ends++, ended -> ends = Integer.MIN_VALUE).start();
                List<TinyTask> tasks = new ArrayList<>();
                for (int i = 0; i < 3 * INSTANCES; i++) {
                    tasks.add(context.allocate());
                }
                GraphInstance[] instances = new GraphInstance[INSTANCES];
                GraphInstance[] held = new GraphInstance[INSTANCES];
                for (int i = 0; i < INSTANCES; i++) {
                    held[i] = subgraph.createInstance().setTask(inner, tasks.get(3 * i));
                    instances[i] =
                            graph.createInstance()
                                    .setTask(one, tasks.get(3 * i + 1))
                                    .setTask(two, tasks.get(3 * i + 2))
                                    .setInstance(sub, held[i]);
                }
                AllocationMeter.assertNone(
                        ROUNDS,
                        () -> {
                            ends = 0;
                            for (GraphInstance instance : instances) {
                                if (instance.trySubmit() != Status.SUCCESS) {
                                    throw new AssertionError("refused", instance.refusal());
                                }
                            }
                            while (ends < INSTANCES) {
                                engine.progress();
                            }
                        });
                assertThat(ends).isEqualTo(INSTANCES);
                for (int i = 0; i < INSTANCES; i++) {
                    instances[i].close();
                    held[i].close();
                }
                tasks.forEach(Task::free);
                graph.close();
            }
        }
    }

    @Test
    void shouldRunOnAQueueWithoutAllocation() {
        try (TinyJobs context = new TinyJobs("tiny", device)) {
            context.start();
            try (Graph subgraph = Graph.create();
                    Graph graph = Graph.create();
                    WorkQueue queue = WorkQueue.create(4 * INSTANCES)) {
                queue.add(context);
                GraphNode inner = subgraph.addContextNode(context, TinyJobs.COUNT);
                subgraph.start();
                GraphNode one = graph.addContextNode(context, TinyJobs.COUNT);
                GraphNode two = graph.addContextNode(context, TinyJobs.COUNT);
                GraphNode sub = graph.addSubgraphNode(subgraph);
                GraphNode user = graph.addUserNode(object -> Status.SUCCESS);
                graph.addDependency(one, sub).addDependency(two, user).addDependency(sub, user);
                graph.start().addTo(queue);
                GraphInstance[] instances = new GraphInstance[INSTANCES];
                GraphInstance[] held = new GraphInstance[INSTANCES];
                for (int i = 0; i < INSTANCES; i++) {
                    held[i] = subgraph.createInstance().setJob(inner, context.job());
                    instances[i] =
                            graph.createInstance()
                                    .setJob(one, context.job())
                                    .setJob(two, context.job())
                                    .setInstance(sub, held[i]);
                }
                JobEvent event = JobEvent.create();
                AllocationMeter.assertNone(
                        ROUNDS,
                        () -> {
                            for (GraphInstance instance : instances) {
                                if (instance.trySubmit(queue) != Status.SUCCESS) {
                                    throw new AssertionError("refused", instance.refusal());
                                }
                            }
                            int ended = 0;
                            while (ended < INSTANCES) {
                                if (queue.progressRetrieve(event) == Status.SUCCESS) {
                                    ended += event.result() == 0 ? 1 : 0;
                                }
                            }
                        });
                assertThat(queue.inFlightJobs()).isZero();
                for (int i = 0; i < INSTANCES; i++) {
                    instances[i].close();
                    held[i].close();
                }
                graph.removeFrom(queue);
                graph.close();
            }
        }
    }
}
