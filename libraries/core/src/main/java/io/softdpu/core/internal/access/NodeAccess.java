package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.internal.engine.NodeHolder;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access of graphs to the tasks and jobs that their nodes hold. The thread of the engine or work
 * queue.
 *
 * @param <C> the class of contexts
 * @param <T> the class of tasks
 * @param <J> the class of jobs
 */
public abstract class NodeAccess<C, T, J> {
    private static volatile @Nullable NodeAccess<?, ?, ?> installed;

    private final List<Class<?>> types;

    /** For the base class of contexts alone. */
    protected NodeAccess(Class<C> contexts, Class<T> tasks, Class<J> jobs) {
        this.types = List.of(contexts, tasks, jobs);
    }

    /**
     * The installed access object: there is a context of this library.
     *
     * @throws DpuException INVALID_VALUE if no context of this library was ever created
     */
    @SuppressWarnings("unchecked") // as require says
    public static <C, T, J> NodeAccess<C, T, J> of(
            Class<C> contexts, Class<T> tasks, Class<J> jobs) {
        NodeAccess<?, ?, ?> access = installed;
        if (access == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a context of this library: contexts=0, expected=one that a library has"
                            + " created");
        }
        ClassLoading.require(access.types, List.of(contexts, tasks, jobs));
        return (NodeAccess<C, T, J>) access;
    }

    /** Called once, by the base class of contexts. */
    public static void install(NodeAccess<?, ?, ?> access) {
        installed = access;
    }

    /**
     * Gives a task to a node.
     *
     * @throws DpuException INVALID_VALUE if it is not one of this library, IN_USE if it is in
     *     flight or another node holds it, BAD_STATE if it was freed
     */
    public abstract void holdTask(T task, NodeHolder holder);

    /** Returns the task to its user. */
    public abstract void releaseTask(T task);

    /** Submits a task for its node: null if it was accepted, else why not. */
    public abstract @Nullable Refusal submitTask(T task);

    /**
     * Gives a job to a node.
     *
     * @throws DpuException INVALID_VALUE if it is not one of this library, IN_USE if it is in
     *     flight or another node holds it
     */
    public abstract void holdJob(J job, NodeHolder holder);

    /** Returns the job to its user. */
    public abstract void releaseJob(J job);

    /** Submits a job for its node, for which a place was reserved: null, or why it was refused. */
    public abstract @Nullable Refusal submitJob(J job, WorkQueueImpl<J> queue);

    /** Whether the context is on a work queue. Any thread. */
    public abstract boolean isOnWorkQueue(C context);
}
