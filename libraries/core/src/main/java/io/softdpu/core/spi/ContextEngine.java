package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.spi.graph.EngineMember;
import io.softdpu.linux.text.Text;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Binding of a context to its engine: membership, thread rule, count of tasks in flight, services
 * for the library, and the sanitizer's checker. The engine's thread. Tasks reference this object
 * and not the context, since they need it for each submission and completion.
 */
final class ContextEngine extends EngineMember {
    private final ContextBase<?> context;
    private final TaskPools pools = new TaskPools();
    private @Nullable EngineImpl impl;
    private @Nullable ContextServices services;
    private @Nullable ContextChecker checker;
    private boolean takesTasks;
    private boolean steady;
    private boolean armed;

    /** Whether the engine progresses the context: from start until it is IDLE and has told so. */
    private boolean entered;

    ContextEngine(ContextBase<?> context) {
        this.context = context;
    }

    ContextBase<?> context() {
        return context;
    }

    // ---- membership ----

    private void connect(ProgressEngine newEngine, EngineImpl newImpl) {
        ContextStates states = context.states();
        synchronized (states.control) {
            states.requireConfigurable();
            if (impl != null) {
                throw new DpuException(
                        Status.NOT_PERMITTED,
                        Text.format(
                                "context is connected to an engine already: context=%s,"
                                        + " engineThread=%s",
                                context, Threads.describe(impl.owner())));
            }
            impl = newImpl;
            services = new ContextServices(newEngine, newImpl);
        }
    }

    /** Lets the engine progress the context, if there is one. */
    void enter() {
        if (impl != null && !entered) {
            entered = true;
            impl.connect(this);
        }
    }

    /** Ends {@link #enter}; idempotent. */
    void leave() {
        if (impl != null && entered) {
            entered = false;
            armed = false;
            impl.disconnect(this);
        }
    }

    boolean isConnected() {
        return impl != null;
    }

    /**
     * The engine.
     *
     * @throws DpuException BAD_STATE if the context is not connected to one
     */
    EngineImpl impl() {
        if (impl == null) {
            throw noEngine();
        }
        return impl;
    }

    ContextServices services() {
        if (services == null) {
            throw noEngine();
        }
        return services;
    }

    private DpuException noEngine() {
        return context.states().noEngine();
    }

    void requireOwner() {
        if (impl != null) {
            impl.requireOwner();
        }
    }

    boolean isProgressing() {
        return impl != null && impl.progressing();
    }

    void requireProgressing() {
        if (!isProgressing()) {
            throw new IllegalStateException("only inside progress: context=" + context);
        }
    }

    /**
     * Signals an engine in event mode, since there is work for progress after a change of state.
     */
    void changed() {
        if (impl != null) {
            impl.changed();
        }
    }

    // ---- for the tasks ----

    void setTakesTasks(boolean takesTasks) {
        this.takesTasks = takesTasks && impl != null;
    }

    /**
     * Sets whether a pass consists of the library's work only: the context is started, and all
     * changes of state have been delivered to its user.
     */
    void setSteady(boolean steady) {
        this.steady = steady;
    }

    /** Pools of the context's tasks. */
    TaskPools pools() {
        return pools;
    }

    /** Whether tasks can be submitted. */
    boolean takesTasks() {
        return takesTasks;
    }

    /** The refusal of a submission if {@link #takesTasks} is false. */
    Refusal notRunning() {
        return context.states().notRunning();
    }

    void tasksSubmitted(int count) {
        addInFlight(count);
        impl().signalWorkOf(this);
    }

    /** A task was refused, or a call outside progress has made work other than by a task. */
    void workAdded() {
        impl().signalWorkOf(this);
    }

    void tasksCompleted(int count) {
        addInFlight(-count);
    }

    void taskFreed() {
        if (!takesTasks) {
            context.states().taskFreed();
        }
    }

    /** Rings the doorbells for tasks submitted so far. */
    void flush() {
        context.onRing();
    }

    /** The sanitizer's checker of this context; null if no sanitizer is on. */
    @Nullable ContextChecker checker() {
        CompletionShuffler shuffler = impl == null ? null : impl.shuffler();
        if (checker == null && shuffler != null) {
            checker = new ContextChecker(shuffler);
        }
        return checker;
    }

    /** Stack trace of the allocation of a task that was not freed; null without a sanitizer. */
    @Nullable Throwable oldestAllocation() {
        return checker == null ? null : checker.oldestAllocation();
    }

    /** The same for the tasks of one pool, whether in flight or not. */
    @Nullable Throwable oldestAllocation(TaskPool<?> pool) {
        return checker == null ? null : checker.oldestAllocation(pool);
    }

    void reportLeaks() {
        if (checker != null && inFlight() == 0) {
            checker.reportLeaks();
        }
    }

    // ---- for the engine ----

    @Override
    public String describe() {
        return context.toString();
    }

    @Override
    public String describeWork() {
        return context.states().describe();
    }

    @Override
    public BooleanSupplier startWait() {
        return context.startWait();
    }

    @Override
    public String describeStart() {
        String awaited = context.state() == ContextState.RUNNING ? context.describeAwaited() : null;
        return awaited == null ? describeWork() : describeWork() + ", " + awaited;
    }

    @Override
    public @Nullable EngineImpl engine() {
        return impl;
    }

    @Override
    public boolean wasStarted() {
        return context.states().wasStarted();
    }

    @Override
    public boolean isActive() {
        return context.state() != ContextState.IDLE;
    }

    @Override
    public boolean awaitsEvents() {
        return context.states().awaitsEvents();
    }

    @Override
    public boolean isEventDrivenSupported() {
        return context.isEventDrivenSupported();
    }

    @Override
    public boolean progress() {
        if (!steady) {
            return context.states().progress();
        }
        // What ContextStates.progress does in this state, without its search for changes: this is
        // the path of each message.
        boolean progressed;
        try {
            progressed = context.onProgress();
        } catch (RuntimeException e) {
            context.states().progressFailed(e);
            progressed = true;
        }
        if (!steady) {
            progressed |= context.states().deliverChanges();
        }
        return progressed;
    }

    @Override
    public boolean arm() {
        ContextStates states = context.states();
        armed = states.state() != ContextState.IDLE;
        boolean ready = armed && context.onArm();
        if (!steady) {
            states.arm();
        }
        return ready || states.isUnsettled();
    }

    @Override
    public void disarm() {
        // The context may have ended since arm(), in the poll between the two.
        if (armed && context.state() != ContextState.IDLE) {
            context.onDisarm();
        }
        armed = false;
    }

    /** Access of engines and work queues to contexts passed by users. */
    static final class Access extends ContextAccess<Context, ProgressEngine, Job> {
        Access() {
            super(Context.class, ProgressEngine.class, Job.class);
        }

        @Override
        public void connect(Context context, ProgressEngine engine, EngineImpl impl) {
            base(context).engine().connect(engine, impl);
        }

        @Override
        public EngineMember member(Context context) {
            return base(context).engine();
        }

        @Override
        public QueueMember<Job> addQueue(Context context, WorkQueueImpl<Job> queue) {
            return base(context).jobQueues().add(queue);
        }

        @Override
        public void refused(Job job, Refusal refusal) {
            if (job instanceof JobBase<?> base) {
                base.refused(refusal);
            }
        }

        static ContextBase<?> base(Context context) {
            if (context instanceof ContextBase<?> base) {
                return base;
            }
            throw refused(context);
        }
    }
}
