package io.softdpu.core.graph;

import io.softdpu.core.Status;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.engine.EngineMember;

/** Started graph as its engine uses it. The engine's thread. */
final class EngineGraph extends EngineMember {
    private final Graph graph;
    private final EngineImpl engine;
    private final Nodes nodes = new Nodes();
    private int inFlight;

    EngineGraph(Graph graph, EngineImpl engine) {
        this.graph = graph;
        this.engine = engine;
    }

    EngineImpl impl() {
        return engine;
    }

    /** Begins the run of an instance. */
    void submit(GraphInstance instance) {
        inFlight++;
        nodes.begin(instance);
        engine.submitted(this, 1);
    }

    @Override
    public String kind() {
        return "graph";
    }

    @Override
    public boolean followsOthers() {
        return inFlight > 0;
    }

    @Override
    public String describe() {
        return graph.toString();
    }

    @Override
    public String describeWork() {
        return "graph=%s, inFlightInstances=%d".formatted(graph, inFlight);
    }

    @Override
    public EngineImpl engine() {
        return engine;
    }

    @Override
    public boolean wasStarted() {
        return true;
    }

    @Override
    public boolean awaitsEvents() {
        return false;
    }

    @Override
    public boolean isEventDrivenSupported() {
        return true;
    }

    @Override
    public boolean progress() {
        boolean progressed = false;
        for (int left = nodes.listed(); left > 0; left--) { // what is added waits for the next pass
            progressed |= nodes.handleNext() != Scheduler.NOTHING;
        }
        return progressed;
    }

    /**
     * A node that was refused is no work: its context signals when it may be accepted, and the
     * graph follows.
     */
    @Override
    public boolean arm() {
        return nodes.hasWork();
    }

    @Override
    public void disarm() {
        // Nothing was armed: tasks end in the progress of their contexts.
    }

    /** Nodes of the instances of this graph. */
    private final class Nodes extends Scheduler {
        Nodes() {
            super(null);
        }

        @Override
        void instanceEnded(GraphInstance instance) {
            inFlight--;
            engine.completed(1);
            instance.returnToUser();
            GraphCallback callback = graph.callback(instance.outcome() == Status.SUCCESS);
            if (callback == null) {
                return;
            }
            try {
                callback.ended(instance);
            } catch (Throwable e) {
                engine.callbackFailed(e);
            }
        }

        /** Handled in the progress of the graph, where callbacks of the user may run. */
        @Override
        void ended(NodeRun run, Status how) {
            endLater(run, how);
        }

        @Override
        void threw(Throwable thrown) {
            engine.callbackFailed(thrown);
        }
    }
}
