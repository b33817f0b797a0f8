package io.softdpu.core.graph;

import io.softdpu.core.Status;
import io.softdpu.core.spi.graph.EngineMember;
import io.softdpu.core.spi.graph.GraphEngine;
import io.softdpu.linux.text.Text;

/** Started graph as its engine uses it. The engine's thread. */
final class EngineGraph extends EngineMember {
    /**
     * Limit of steps in one pass beyond those that there were at its beginning: nodes that follow
     * others start in the same pass, and an instance that is submitted again by its callback does
     * not hold up the engine.
     */
    private static final int MAX_FOLLOWING = 64;

    private final Graph graph;
    private final GraphEngine engine;
    private final Nodes nodes = new Nodes();

    /** The engine's {@link GraphEngine#changes} when the nodes in the list were tried last. */
    private long triedAt = -1;

    EngineGraph(Graph graph, GraphEngine engine) {
        this.graph = graph;
        this.engine = engine;
    }

    /** Begins the run of an instance. */
    void submit(GraphInstance instance) {
        addInFlight(1);
        nodes.submit(instance);
        engine.signalWorkOf(this);
    }

    @Override
    public String kind() {
        return "graph";
    }

    @Override
    public boolean followsOthers() {
        return inFlight() > 0;
    }

    @Override
    public String describe() {
        return graph.toString();
    }

    @Override
    public String describeWork() {
        return Text.format("graph=%s, inFlightInstances=%d", graph, inFlight());
    }

    @Override
    public GraphEngine engine() {
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
        int left = nodes.listed();
        if (left == 0) {
            return false;
        }
        left += MAX_FOLLOWING;
        boolean progressed = false;
        int refused = 0;
        triedAt = engine.changes();
        while (left > 0 && refused < nodes.listed()) {
            left--;
            if (nodes.handleNext() == Scheduler.NOTHING) {
                refused++;
            } else {
                refused = 0;
                progressed = true;
            }
        }
        return progressed;
    }

    /**
     * A node that was refused is work if a pass did something or a context has stopped since: it
     * may be accepted, refused for another reason, or skipped after a failure. Otherwise its
     * context signals when it may be accepted, and the graph follows.
     */
    @Override
    public boolean arm() {
        return nodes.hasWork() || (nodes.listed() > 0 && triedAt != engine.changes());
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
            addInFlight(-1);
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

        /**
         * Handled where the callback of the task would have been called, unless there are ends
         * before it, one of which may be a failure. User nodes that follow run in the progress of
         * the graph.
         */
        @Override
        void ended(NodeRun run, Status how) {
            if (hasWork()) {
                endLater(run, how);
            } else {
                end(run, how);
            }
        }

        @Override
        void threw(Throwable thrown) {
            engine.callbackFailed(thrown);
        }

        @Override
        boolean enterCallback() {
            return engine.enterCallback();
        }

        @Override
        void leaveCallback() {
            engine.leaveCallback();
        }
    }
}
