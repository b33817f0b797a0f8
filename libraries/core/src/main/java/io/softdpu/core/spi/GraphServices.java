package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.internal.access.ImplementationAccess;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.core.spi.graph.GraphEngine;
import io.softdpu.core.spi.graph.GraphQueue;
import io.softdpu.core.spi.graph.HoldingNode;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Access of graphs to engines and work queues, and to the tasks and jobs that their nodes hold. The
 * thread of the engine or work queue, unless a method says otherwise.
 */
public final class GraphServices {
    private static final Function<Object, Object> ENGINES =
            ImplementationAccess.of(ProgressEngine.class);
    private static final Function<Object, Object> QUEUES = ImplementationAccess.of(WorkQueue.class);

    private GraphServices() {}

    /** The engine as its graphs use it. Any thread. */
    public static GraphEngine engine(ProgressEngine engine) {
        return implementation(engine);
    }

    static EngineImpl implementation(ProgressEngine engine) {
        return (EngineImpl) ENGINES.apply(engine);
    }

    /** The work queue as its graphs use it; allocates nothing. Any thread. */
    public static GraphQueue queue(WorkQueue queue) {
        return (GraphQueue) QUEUES.apply(queue);
    }

    /**
     * The engine that a context was connected to; null for none. Any thread.
     *
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public static @Nullable GraphEngine engineOf(Context context) {
        return ContextEngine.Access.base(context).engine().engine();
    }

    /** Whether the context is on a work queue. Any thread. */
    public static boolean isOnWorkQueue(Context context) {
        return context instanceof ContextBase<?> base && !base.jobQueues().isEmpty();
    }

    /**
     * Gives a task to a node.
     *
     * @throws DpuException INVALID_VALUE if it is not one of this library, IN_USE if it is in
     *     flight or another node holds it, BAD_STATE if it was freed
     */
    public static void holdTask(Task task, HoldingNode node) {
        if (!(task instanceof TaskBase<?> base)) {
            throw foreign("task", task);
        }
        base.engine().requireOwner();
        base.holdFor(node);
    }

    /** Returns the task to its user. */
    public static void releaseTask(Task task) {
        ((TaskBase<?>) task).releaseFromNode();
    }

    /** Submits a task for its node: null if it was accepted, else why not. */
    public static @Nullable Refusal submitTask(Task task) {
        return ((TaskBase<?>) task).submitForNode();
    }

    /**
     * Gives a job to a node.
     *
     * @throws DpuException INVALID_VALUE if it is not one of this library, IN_USE if it is in
     *     flight or another node holds it
     */
    public static void holdJob(Job job, HoldingNode node) {
        if (!(job instanceof JobBase<?> base)) {
            throw foreign("job", job);
        }
        base.holdFor(node);
    }

    /** Returns the job to its user. */
    public static void releaseJob(Job job) {
        ((JobBase<?>) job).releaseFromNode();
    }

    /** Submits a job for its node, for which a place was reserved: null, or why it was refused. */
    @SuppressWarnings("unchecked") // a work queue has jobs
    public static @Nullable Refusal submitJob(Job job, GraphQueue queue) {
        WorkQueueImpl<Job> impl = (WorkQueueImpl<Job>) queue;
        QueueMember<Job> member = impl.member(job.context());
        return impl.submitNode(Objects.requireNonNull(member, "stays with the graph"), job);
    }

    private static DpuException foreign(String what, Object object) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "not a %s of this library: class=%s, expected=one that a context has"
                                + " created",
                        what, object.getClass().getName()));
    }
}
