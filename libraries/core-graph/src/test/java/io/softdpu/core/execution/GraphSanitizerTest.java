package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Effects of the sanitizer on graphs. */
class GraphSanitizerTest {
    private static final int NODES = 8;
    private static final int SEEDS = 40;
    private static final int MAX_PASSES = 10_000;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private final List<SanitizerReport> reports = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Sanitizer sanitizer(long seed) {
        return Sanitizer.startForThread(seed).setListener(reports::add);
    }

    /** The order in which the roots of a graph on an engine end; WAITING ones were refused. */
    private String orderOnAnEngine(long seed, boolean[] refused) {
        StringBuilder order = new StringBuilder();
        try (Sanitizer _ = sanitizer(seed);
                ProgressEngine engine = ProgressEngine.create();
                TinyContext context = new TinyContext(device)) {
            engine.connect(context);
            context.start();
            try (Graph graph = Graph.create(engine)) {
                List<GraphNode> roots = new ArrayList<>();
                for (int i = 0; i < NODES; i++) {
                    GraphNode root = graph.addContextNode(context);
                    int number = i;
                    GraphNode child =
                            graph.addUserNode(object -> {
                                order.append(number);
                                return Status.SUCCESS;
                            });
                    graph.addDependency(root, child);
                    roots.add(root);
                }
                graph.start();
                List<TinyTask> tasks = new ArrayList<>();
                GraphInstance instance = graph.createInstance();
                for (GraphNode root : roots) {
                    TinyTask task = context.allocate();
                    tasks.add(task);
                    instance.setTask(root, task);
                }
                instance.submit();
                for (GraphNode root : roots) {
                    refused[0] |= instance.state(root) == NodeState.WAITING;
                }
                for (int i = 0; instance.isInFlight(); i++) {
                    assertThat(i).isLessThan(MAX_PASSES);
                    engine.progress();
                }
                assertThat(instance.status()).isEqualTo(Status.SUCCESS);
                instance.close();
                tasks.forEach(Task::free);
            }
        }
        return order.toString();
    }

    @Test
    void shouldReorderDelayAndRefuseTheNodesOfAnEngine() {
        boolean[] refused = new boolean[1];
        List<String> orders = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            orders.add(orderOnAnEngine(seed, refused));
        }
        assertThat(orders).doesNotContain("01234567");
        assertThat(orders).allSatisfy(order -> assertThat(order).hasSize(NODES));
        assertThat(orders.stream().distinct().count()).isGreaterThan(SEEDS / 2);
        assertThat(refused[0]).as("a submission of a node was refused with AGAIN").isTrue();
        assertThat(orderOnAnEngine(7, refused)).isEqualTo(orders.get(7));
        assertThat(reports).isEmpty();
    }

    @Test
    void shouldReorderAndRefuseTheNodesOfAQueue() {
        boolean refused = false;
        List<String> orders = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            StringBuilder order = new StringBuilder();
            try (Sanitizer _ = sanitizer(seed);
                    TinyJobs context = new TinyJobs("tiny", device)) {
                context.start();
                try (Graph graph = Graph.create();
                        WorkQueue queue = WorkQueue.create(NODES + 1)) {
                    queue.add(context);
                    List<GraphNode> roots = new ArrayList<>();
                    for (int i = 0; i < NODES; i++) {
                        roots.add(graph.addContextNode(context, TinyJobs.COUNT));
                    }
                    graph.start().addTo(queue);
                    GraphInstance instance = graph.createInstance();
                    for (GraphNode root : roots) {
                        TinyJob job = context.job();
                        job.atOnce = true;
                        instance.setJob(root, job);
                    }
                    instance.submit(queue);
                    JobEvent event = JobEvent.create();
                    boolean[] seen = new boolean[NODES];
                    for (int i = 0; queue.progressRetrieve(event) != Status.SUCCESS; i++) {
                        assertThat(i).isLessThan(MAX_PASSES);
                        for (int n = 0; n < NODES; n++) {
                            NodeState state = instance.state(roots.get(n));
                            refused |= state == NodeState.WAITING;
                            if (!seen[n] && state == NodeState.COMPLETED) {
                                seen[n] = true;
                                order.append(n);
                            }
                        }
                    }
                    assertThat(event.result()).isZero();
                    instance.close();
                }
            }
            orders.add(order.toString());
        }
        assertThat(orders).doesNotContain("01234567");
        assertThat(orders).allSatisfy(order -> assertThat(order).hasSize(NODES));
        assertThat(refused).as("a submission of a node was refused with AGAIN").isTrue();
        assertThat(reports).isEmpty();
    }

    private void assertReport(
            int index, SanitizerReport.Kind kind, String message, @Nullable String place) {
        SanitizerReport report = reports.get(index);
        assertThat(report.kind()).isEqualTo(kind);
        assertThat(report.message()).startsWith(message);
        assertThat(report.allocatedAt()).isNotNull();
        assertThat(report.allocatedAt().getStackTrace())
                .extracting(StackTraceElement::getMethodName)
                .contains(place);
    }

    private TinyTask allocatedHere(TinyContext context) {
        return context.allocate();
    }

    private GraphInstance createdHere(Graph graph) {
        return graph.createInstance();
    }

    @Test
    void shouldReportATaskThatIsUsedWhileAnInstanceHoldsIt() {
        try (Sanitizer _ = sanitizer(1);
                ProgressEngine engine = ProgressEngine.create();
                TinyContext context = new TinyContext(device)) {
            engine.connect(context);
            context.start();
            try (Graph graph = Graph.create(engine)) {
                GraphNode first = graph.addContextNode(context);
                GraphNode second = graph.addContextNode(context);
                graph.addDependency(first, second).start();
                TinyTask task = allocatedHere(context);
                TinyTask waits = allocatedHere(context);
                GraphInstance instance =
                        graph.createInstance().setTask(first, task).setTask(second, waits);
                Thrown.with(Status.IN_USE, task::free);
                assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
                instance.submit();
                Thrown.with(Status.IN_USE, () -> waits.setCallback(null));
                Thrown.with(Status.IN_USE, () -> task.setCallback(null));
                Thrown.with(Status.IN_USE, task::free);
                for (int i = 0; instance.isInFlight(); i++) {
                    assertThat(i).isLessThan(MAX_PASSES);
                    engine.progress();
                }
                instance.close();
                task.free();
                waits.free();
            }
        }
        assertThat(reports).hasSize(5);
        SanitizerReport.Kind misused = SanitizerReport.Kind.TASK_MISUSED;
        String here = "allocatedHere";
        assertReport(0, misused, "task was freed while a graph instance holds it, node=", here);
        assertReport(1, misused, "task was submitted while a graph instance holds it", here);
        assertReport(2, misused, "task was changed while a graph instance in flight", here);
        assertReport(3, misused, "task was changed in flight", here);
        assertReport(4, misused, "task was freed in flight", here);
    }

    @Test
    void shouldReportAJobThatIsUsedWhileAnInstanceHoldsIt() {
        try (Sanitizer _ = sanitizer(1);
                TinyJobs context = new TinyJobs("tiny", device)) {
            context.start();
            try (Graph graph = Graph.create();
                    WorkQueue queue = WorkQueue.create(4)) {
                queue.add(context);
                GraphNode first = graph.addContextNode(context, TinyJobs.COUNT);
                GraphNode second = graph.addContextNode(context, TinyJobs.COUNT);
                graph.addDependency(first, second).start().addTo(queue);
                TinyJob waits = context.job();
                GraphInstance instance =
                        createdHere(graph).setJob(first, context.job()).setJob(second, waits);
                assertThat(submitUntilNotAgain(queue, waits)).isEqualTo(Status.IN_USE);
                instance.submit(queue);
                Thrown.with(Status.IN_USE, () -> waits.setSlices(1));
                JobEvent event = JobEvent.create();
                for (int i = 0; queue.progressRetrieve(event) != Status.SUCCESS; i++) {
                    assertThat(i).isLessThan(MAX_PASSES);
                }
                instance.close();
            }
        }
        assertThat(reports).hasSize(2);
        SanitizerReport.Kind misused = SanitizerReport.Kind.TASK_MISUSED;
        assertReport(0, misused, "job was submitted while a graph instance", "createdHere");
        assertReport(1, misused, "job was changed while a graph instance", "createdHere");
    }

    private static Status submitUntilNotAgain(WorkQueue queue, TinyJob job) {
        Status status = Status.AGAIN;
        for (int i = 0; status == Status.AGAIN && i < MAX_PASSES; i++) {
            status = queue.trySubmit(job);
        }
        return status;
    }

    @Test
    void shouldReportAnInstanceThatIsNeverClosed() {
        try (Sanitizer sanitizer = sanitizer(1);
                TinyJobs context = new TinyJobs("tiny", device)) {
            context.start();
            try (WorkQueue queue = WorkQueue.create(4)) {
                queue.add(context);
                Graph graph = Graph.create();
                GraphNode node = graph.addContextNode(context, TinyJobs.COUNT);
                graph.start().addTo(queue);
                GraphInstance instance = createdHere(graph).setJob(node, context.job());
                instance.submit(queue);
                JobEvent event = JobEvent.create();
                for (int i = 0; queue.progressRetrieve(event) != Status.SUCCESS; i++) {
                    assertThat(i).isLessThan(MAX_PASSES);
                }
                graph.removeFrom(queue);
                Thrown.with(Status.IN_USE, graph::close)
                        .satisfies(thrown -> assertThat(thrown.getCause()).isNotNull());
                assertThat(sanitizer.reports(SanitizerReport.Kind.INSTANCE_LEAKED)).isEqualTo(1);
                assertReport(
                        0,
                        SanitizerReport.Kind.INSTANCE_LEAKED,
                        "instance was not closed before the end: instance=" + instance,
                        "createdHere");
                instance.close();
                graph.close();
            }
        }
        assertThat(reports).hasSize(1);
    }
}
