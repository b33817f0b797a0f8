package io.softdpu.core.graph;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Order of the nodes of all instances in flight on one work queue, or of one graph on an engine.
 * Nodes that are to be started, and ends that are to be handled, are in a list that the nodes
 * themselves form; so it allocates nothing. The thread of the queue or engine.
 *
 * <p>A node that was refused with AGAIN or FULL is started again in each pass. After the first
 * failure of an instance those of its nodes that have not started are skipped, and the instance
 * ends with the last that runs.
 */
abstract class Scheduler {
    /** Result of {@link #handleNext}: nothing was done. */
    static final int NOTHING = 0;

    /** Result of {@link #handleNext}: a node was started or skipped. */
    static final int STARTED = 1;

    /** Result of {@link #handleNext}: the end of a node was handled. */
    static final int ENDED = 2;

    private final @Nullable GraphQueue queue;
    private @Nullable NodeRun head;
    private @Nullable NodeRun tail;
    private int listed;

    /** Nodes in the list whose last try was refused. */
    private int retrying;

    private boolean runningUserNode;

    /**
     * Creates one without instances.
     *
     * @param queue the work queue; null for an engine
     */
    Scheduler(@Nullable GraphQueue queue) {
        this.queue = queue;
    }

    // ---- what differs between queues and engines ----

    /** An instance that is not part of another has ended. */
    abstract void instanceEnded(GraphInstance instance);

    /** A task or job of a node has ended. */
    abstract void ended(NodeRun run, Status how);

    /** A user node, or a submission, has thrown; progress is to throw it. */
    abstract void threw(Throwable thrown);

    /**
     * Begins the callback of a user node at the submission, which may be outside of progress: it
     * has the rules of a callback inside.
     *
     * @return whether there is something for {@link #leaveCallback} to end
     */
    abstract boolean enterCallback();

    /** Ends what {@link #enterCallback} has begun. */
    abstract void leaveCallback();

    // ---- instances ----

    /** Begins a run of an instance that the user submits: its root nodes start. */
    void submit(GraphInstance instance) {
        begin(instance, true);
    }

    /**
     * Begins a run.
     *
     * @param submitting whether this is a part of a submission, which runs the user nodes among the
     *     roots (Core guide, core-282); else they wait for their turn, as all that follow a node do
     */
    private void begin(GraphInstance instance, boolean submitting) {
        instance.begin(this);
        for (NodeRun root : instance.roots()) {
            instance.activated();
            start(root, submitting);
        }
    }

    /** Number of nodes to be started or whose end is to be handled. */
    int listed() {
        return listed;
    }

    /** Whether there are others in the list than those that were refused. */
    boolean hasWork() {
        return listed > retrying;
    }

    boolean isRunningUserNode() {
        return runningUserNode;
    }

    /** Takes the first of the list, of which there is one, and starts it or handles its end. */
    int handleNext() {
        NodeRun run = poll();
        Status ended = run.takeEnd();
        if (ended != null) {
            end(run, ended);
            return ENDED;
        }
        if (run.instance().hasFailed()) {
            if (run.instance().deactivated()) {
                finish(run.instance());
            }
            return STARTED;
        }
        if (run.isUserNode()) {
            runUserNode(run);
            return ENDED;
        }
        return submit(run) ? STARTED : NOTHING;
    }

    /** Handles the end of a node later. */
    void endLater(NodeRun run, Status how) {
        run.setEnd(how);
        add(run);
    }

    private void start(NodeRun run, boolean submitting) {
        if (run.isContextNode()) {
            boolean _ = submit(run);
        } else if (!run.isUserNode()) {
            run.running();
            begin(run.subinstance(), submitting);
        } else if (submitting) {
            runAtSubmission(run);
        } else {
            add(run);
        }
    }

    /** Submits a task or job; whether it was accepted, or will never be. */
    private boolean submit(NodeRun run) {
        run.running();
        Refusal refusal;
        try {
            refusal = run.submit(queue);
        } catch (Throwable e) { // memory that was closed, or a defect of a library
            run.threw(e);
            endLater(run, Failures.of(e).status());
            if (e instanceof Error) {
                threw(e); // thrown by progress; the instance ends nevertheless
            }
            return true;
        }
        if (refusal == null) {
            return true;
        }
        if (isTemporary(refusal.status())) {
            run.waiting();
            run.retries = true;
            add(run);
            return false;
        }
        run.refused(refusal);
        endLater(run, refusal.status());
        return true;
    }

    private static boolean isTemporary(Status status) {
        return status == Status.AGAIN || status == Status.FULL;
    }

    private void runUserNode(NodeRun run) {
        Throwable thrown = null;
        Status how = Status.UNEXPECTED;
        try {
            how = call(run);
        } catch (Throwable e) { // thrown by progress, when the end of the node has been handled
            thrown = e;
        }
        if (thrown == null) {
            end(run, how);
        } else {
            run.threw(thrown);
            end(run, how);
            threw(thrown);
        }
    }

    /**
     * Runs a root. Its end is handled by progress or a retrieval: what follows starts there, and an
     * instance does not end inside its submission.
     */
    private void runAtSubmission(NodeRun run) {
        boolean entered = enterCallback();
        try {
            endLater(run, call(run));
        } catch (Throwable e) { // as of a node that runs in progress: the submission is accepted
            run.threw(e);
            endLater(run, Status.UNEXPECTED);
            threw(e);
        } finally {
            if (entered) {
                leaveCallback();
            }
        }
    }

    private Status call(NodeRun run) {
        run.running();
        boolean before = runningUserNode; // a callback may submit another instance
        runningUserNode = true;
        try {
            return returned(run.runCallback(), run);
        } finally {
            runningUserNode = before;
        }
    }

    @SuppressWarnings("ConstantValue") // a callback may return what its annotation excludes
    private static Status returned(@Nullable Status status, NodeRun run) {
        if (status == null) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "user node has returned null: %s, expected=a status", run.describe()));
        }
        return status;
    }

    /** Handles the end of a node now. */
    final void end(NodeRun run, Status how) {
        GraphInstance instance = run.instance();
        boolean successful = how == Status.SUCCESS;
        run.ended(successful, how);
        if (!successful) {
            instance.failed(run, how);
        } else if (!instance.hasFailed()) {
            for (NodeRun child : run.children()) {
                if (child.parentSucceeded()) {
                    instance.activated();
                    start(child, false);
                }
            }
        }
        if (instance.deactivated()) {
            finish(instance);
        }
    }

    /** Ends an instance whose last node has ended. */
    private void finish(GraphInstance instance) {
        instance.ended();
        NodeRun holder = instance.holder();
        if (holder == null) {
            instanceEnded(instance);
        } else {
            endLater(holder, instance.outcome());
        }
    }

    private void add(NodeRun run) {
        if (tail == null) {
            head = run;
        } else {
            tail.next = run;
        }
        tail = run;
        listed++;
        if (run.retries) {
            retrying++;
        }
    }

    private NodeRun poll() {
        NodeRun first = Objects.requireNonNull(head, "a node in the list");
        NodeRun second = first.next;
        head = second;
        if (second == null) {
            tail = null;
        } else {
            first.next = null;
        }
        listed--;
        if (first.retries) {
            retrying--;
            first.retries = false;
        }
        return first;
    }
}
