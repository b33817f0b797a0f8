package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.Status;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A graph on an engine: two copies in parallel, then a callback that checks both. The graph is
 * described once; ten instances of it, with tasks of their own, are in flight together. The tasks
 * have no callbacks here: the graph is told of their ends, and the program of the instance's.
 */
final class PeGraph implements Sample {
    private static final int INSTANCES = 10;
    private static final int COPIES = 2;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-graph";
    }

    @Override
    public String summary() {
        return "Runs ten instances of a graph: two DMA copies, then a callback that checks them.";
    }

    @Override
    public String output() {
        return "Each instance is checked by its last node, when both of its copies have ended.";
    }

    @Override
    public String source() {
        return "Nodes.add() describes the graph; createInstance() gives the nodes of an instance"
                + " their tasks.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        int copies = INSTANCES * COPIES;
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, copies, BYTES);
                Dma dma = Dma.create(setup.device())) {
            // The callbacks of tasks in a graph are not called.
            dma.setMemcpyTasks(copies, DmaSampleSetup::failed, DmaSampleSetup::failed);
            setup.engine().start(dma, Duration.ofSeconds(1));
            try (Graph graph = Graph.create(setup.engine())) {
                int[] completed = new int[1];
                graph.setMaxInstances(INSTANCES)
                        .setCallbacks(ended -> completed[0]++, PeGraph::failed);
                Nodes nodes = Nodes.add(graph, dma, setup, out);
                graph.start();
                List<DmaMemcpyTask> tasks = new ArrayList<>();
                List<GraphInstance> instances = new ArrayList<>();
                for (int i = 0; i < INSTANCES; i++) {
                    instances.add(createInstance(graph, nodes, setup, dma, tasks, i));
                }
                instances.forEach(GraphInstance::submit);
                setup.runUntil(() -> completed[0] == INSTANCES, dma);
                // An instance holds its tasks: they can be freed after it was closed.
                instances.forEach(GraphInstance::close);
                tasks.forEach(DmaSampleSetup::free);
                out.println("completed: instances=" + completed[0]);
            }
        }
    }

    /** The nodes: each copy is a parent of the check. */
    private record Nodes(GraphNode first, GraphNode second, GraphNode check) {
        static Nodes add(Graph graph, Dma dma, DmaSampleSetup setup, PrintStream out) {
            GraphNode first = graph.addContextNode(dma);
            GraphNode second = graph.addContextNode(dma);
            GraphNode check =
                    graph.addUserNode(number -> {
                        int instance = number instanceof Integer i ? i : -1;
                        setup.check(COPIES * instance);
                        setup.check(COPIES * instance + 1);
                        out.println(Text.format("instance=%d, copies are right", instance));
                        return Status.SUCCESS;
                    });
            graph.addDependency(first, check).addDependency(second, check);
            return new Nodes(first, second, check);
        }
    }

    private static GraphInstance createInstance(
            Graph graph,
            Nodes nodes,
            DmaSampleSetup setup,
            Dma dma,
            List<DmaMemcpyTask> tasks,
            int number) {
        List<DmaMemcpyTask> own = new ArrayList<>();
        for (int i = COPIES * number; i < COPIES * (number + 1); i++) {
            own.add(dma.allocateMemcpy(setup.source(i), setup.destination(i)));
        }
        tasks.addAll(own);
        return graph.createInstance()
                .setTask(nodes.first(), own.get(0))
                .setTask(nodes.second(), own.get(1))
                .setObject(nodes.check(), number);
    }

    /** The exception for an unexpected failure of an instance; the engine passes it on. */
    private static void failed(GraphInstance instance) {
        throw new IllegalStateException("instance has failed: " + instance, instance.failure());
    }
}
