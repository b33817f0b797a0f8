package io.softdpu.core.graph;

import io.softdpu.core.Status;
import io.softdpu.core.spi.graph.CallbackFailures;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.core.spi.graph.QueueGraphs;
import io.softdpu.core.spi.graph.QueueInstance;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Graphs of one work queue. The queue's thread. */
final class GraphsOfQueue extends QueueGraphs {
    private final GraphQueue queue;
    private final List<Graph> graphs = new ArrayList<>();
    private final Nodes nodes;
    private final CallbackFailures failures = new CallbackFailures();

    /** The instances that wait to be retrieved, a list that they themselves form. */
    private @Nullable GraphInstance endedHead;

    private @Nullable GraphInstance endedTail;

    private GraphsOfQueue(GraphQueue queue) {
        this.queue = queue;
        this.nodes = new Nodes(queue);
    }

    /** The graphs of this queue; none at first. */
    static GraphsOfQueue of(GraphQueue queue) {
        if (queue.graphs() instanceof GraphsOfQueue present) {
            return present;
        }
        GraphsOfQueue created = new GraphsOfQueue(queue);
        queue.setGraphs(created);
        return created;
    }

    GraphQueue queue() {
        return queue;
    }

    void add(Graph graph) {
        graphs.add(graph);
    }

    void remove(Graph graph) {
        graphs.remove(graph);
    }

    boolean contains(Graph graph) {
        return graphs.contains(graph);
    }

    /** Begins the run of an instance, for which places were reserved. */
    void submit(GraphInstance instance) {
        nodes.submit(instance);
        queue.instanceSubmitted();
    }

    @Override
    public boolean step() {
        boolean ended = false;
        for (int left = nodes.listed(); left > 0 && !ended; left--) {
            ended = nodes.handleNext() == Scheduler.ENDED;
        }
        failures.throwKept();
        return ended;
    }

    @Override
    public boolean hasWork() {
        return nodes.listed() > 0 || endedHead != null;
    }

    @Override
    public boolean hasEnded() {
        return endedHead != null;
    }

    @Override
    public @Nullable QueueInstance pollEnded() {
        GraphInstance first = endedHead;
        if (first == null) {
            return null;
        }
        endedHead = first.nextEnded;
        if (endedHead == null) {
            endedTail = null;
        }
        first.nextEnded = null;
        return first.retrieval();
    }

    @Override
    public boolean isRunningUserNode() {
        return nodes.isRunningUserNode();
    }

    @Override
    public @Nullable String userOf(Object context) {
        for (Graph graph : graphs) {
            if (graph.contexts().contains(context)) {
                return graph.toString();
            }
        }
        return null;
    }

    @Override
    public void removeAll() {
        for (Graph graph : List.copyOf(graphs)) {
            graph.removedFrom(this);
        }
        graphs.clear();
    }

    /** Nodes of the instances on this queue. */
    private final class Nodes extends Scheduler {
        Nodes(GraphQueue queue) {
            super(queue);
        }

        @Override
        void instanceEnded(GraphInstance instance) {
            if (endedTail == null) {
                endedHead = instance;
            } else {
                endedTail.nextEnded = instance;
            }
            endedTail = instance;
        }

        /** Handled now: this is the only end that the retrieval of the job handles. */
        @Override
        void ended(NodeRun run, Status how) {
            end(run, how);
        }

        /** Of several, as of the roots of one submission, the first has the others suppressed. */
        @Override
        void threw(Throwable thrown) {
            failures.add(thrown);
        }

        /** A retrieval and a wait inside a user node are refused wherever it runs. */
        @Override
        boolean enterCallback() {
            return false;
        }

        @Override
        void leaveCallback() {
            throw new IllegalStateException("nothing was entered");
        }
    }
}
