package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.core.spi.graph.EngineMember;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access of engines and work queues to internals of contexts.
 *
 * @param <C> the class of contexts
 * @param <E> the class of engines, as users see them
 * @param <J> the class of jobs
 */
public abstract class ContextAccess<C, E, J> {
    private static volatile @Nullable ContextAccess<?, ?, ?> installed;

    private final List<Class<?>> types;

    /** For the base class of contexts alone. */
    protected ContextAccess(Class<C> contexts, Class<E> engines, Class<J> jobs) {
        this.types = List.of(contexts, engines, jobs);
    }

    /**
     * The installed access object. Before it is installed there are no contexts of this library:
     * all are refused then.
     */
    @SuppressWarnings("unchecked") // as require says
    public static <C, E, J> ContextAccess<C, E, J> of(
            Class<C> contexts, Class<E> engines, Class<J> jobs) {
        ContextAccess<?, ?, ?> access = installed;
        if (access == null) {
            return new NoContexts<>(contexts, engines, jobs);
        }
        ClassLoading.require(access.types, List.of(contexts, engines, jobs));
        return (ContextAccess<C, E, J>) access;
    }

    /** Called once, by the base class of contexts. */
    public static void install(ContextAccess<?, ?, ?> access) {
        installed = access;
    }

    /**
     * Connects a context to an engine, which progresses it from its start on.
     *
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public abstract void connect(C context, E engine, EngineImpl impl);

    /**
     * The context as its engine uses it, connected or not.
     *
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public abstract EngineMember member(C context);

    /**
     * Adds a work queue to a context.
     *
     * @return the context as the queue uses it
     * @throws DpuException INVALID_VALUE if the context is not of this library
     */
    public abstract QueueMember<J> addQueue(C context, WorkQueueImpl<J> queue);

    /** Keeps the reason why a job was refused, for its user. */
    public abstract void refused(J job, Refusal refusal);

    /** The exception for a context that is not of this library. */
    protected static DpuException refused(Object context) {
        return new DpuException(
                Status.INVALID_VALUE,
                "not a context of this library: class=" + context.getClass().getName());
    }

    private static final class NoContexts<C, E, J> extends ContextAccess<C, E, J> {
        NoContexts(Class<C> contexts, Class<E> engines, Class<J> jobs) {
            super(contexts, engines, jobs);
        }

        @Override
        public void connect(C context, E engine, EngineImpl impl) {
            throw refused(context);
        }

        @Override
        public EngineMember member(C context) {
            throw refused(context);
        }

        @Override
        public QueueMember<J> addQueue(C context, WorkQueueImpl<J> queue) {
            throw refused(context);
        }

        @Override
        public void refused(J job, Refusal refusal) {
            // A job of the program's own class, without a context of this library.
        }
    }
}
