package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.internal.access.ContextAccess;
import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.core.internal.engine.EngineMember;
import io.softdpu.core.internal.engine.QueueCore;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.sanitizer.Disorder;
import org.jspecify.annotations.Nullable;

/**
 * A context as its engine and its tasks see it: membership, thread rule, count of tasks in flight,
 * services for the library, and what a sanitizer knows. The engine's thread. Tasks hold this object
 * and not the context, since they need it for each submission and completion.
 */
final class ContextEngine extends EngineMember {
    private final ContextBase context;
    private @Nullable EngineCore core;
    private @Nullable ContextServices services;
    private @Nullable ContextWatch watch;
    private int inFlight;
    private boolean takesTasks;
    private boolean armed;

    ContextEngine(ContextBase context) {
        this.context = context;
    }

    ContextBase context() {
        return context;
    }

    // ---- membership ----

    private ContextEngine connect(ProgressEngine newEngine, EngineCore newCore) {
        ContextStates states = context.states();
        synchronized (states.control) {
            states.requireConfigurable();
            if (core != null) {
                throw new DpuException(
                        Status.NOT_PERMITTED,
                        "context is connected to an engine already: context=%s, engineThread=%s"
                                .formatted(context, core.owner().getName()));
            }
            core = newCore;
            services = new ContextServices(newEngine, newCore);
            return this;
        }
    }

    void disconnect() {
        if (core != null) {
            core.disconnect(this);
        }
    }

    boolean isConnected() {
        return core != null;
    }

    /**
     * The engine.
     *
     * @throws DpuException BAD_STATE if the context is not connected to one
     */
    EngineCore core() {
        if (core == null) {
            throw noEngine();
        }
        return core;
    }

    ContextServices services() {
        if (services == null) {
            throw noEngine();
        }
        return services;
    }

    private DpuException noEngine() {
        return context.states().badState("context has no progress engine");
    }

    void requireOwner() {
        if (core != null) {
            core.requireOwner();
        }
    }

    boolean isProgressing() {
        return core != null && core.progressing();
    }

    void requireProgressing() {
        if (!isProgressing()) {
            throw new IllegalStateException("only inside progress: context=" + context);
        }
    }

    /** Ends the sleep of an engine in event mode: something has come that only progress does. */
    void ring() {
        if (core != null) {
            core.ring();
        }
    }

    // ---- for the tasks ----

    void takeTasks(boolean taken) {
        takesTasks = taken && core != null;
    }

    /** Whether tasks can be submitted. */
    boolean isRunning() {
        return takesTasks;
    }

    int inFlight() {
        return inFlight;
    }

    void taskSubmitted() {
        inFlight++;
        core().submitted(this);
    }

    void taskCompleted() {
        inFlight--;
        core().completed();
    }

    void taskFreed() {
        if (!takesTasks) {
            context.states().taskFreed();
        }
    }

    void callbackFailed(Throwable thrown) {
        core().callbackFailed(thrown);
    }

    /** Rings for what was submitted so far. */
    void flush() {
        context.onRing();
    }

    /** What a sanitizer knows of this context; null where none is on. */
    @Nullable ContextWatch watch() {
        Disorder disorder = core == null ? null : core.disorder();
        if (watch == null && disorder != null) {
            watch = new ContextWatch(disorder);
        }
        return watch;
    }

    void reportLeaks() {
        if (watch != null && inFlight == 0) {
            watch.reportLeaks();
        }
    }

    // ---- for the engine ----

    @Override
    public String describe() {
        return context.toString();
    }

    @Override
    public boolean isEventDrivenSupported() {
        return context.isEventDrivenSupported();
    }

    @Override
    public boolean progress() {
        return context.states().progress();
    }

    @Override
    public boolean arm() {
        ContextStates states = context.states();
        armed = states.state() != ContextState.IDLE;
        boolean ready = armed && context.onArm();
        return ready || states.isUnsettled();
    }

    @Override
    public void disarm() {
        // What was armed may be gone: the look between the two may have ended the context.
        if (armed && context.state() != ContextState.IDLE) {
            context.onDisarm();
        }
        armed = false;
    }

    /** The way from an engine or a work queue to a context that a user gives it. */
    static final class Access extends ContextAccess<Context, ProgressEngine, Job> {
        Access() {
            super(Context.class, ProgressEngine.class, Job.class);
        }

        @Override
        public EngineMember connect(Context context, ProgressEngine engine, EngineCore core) {
            return base(context).engine().connect(engine, core);
        }

        @Override
        public QueueMember<Job> addQueue(Context context, QueueCore<Job> queue) {
            return base(context).lanes().add(queue);
        }

        private ContextBase base(Context context) {
            if (context instanceof ContextBase base) {
                return base;
            }
            throw refused(context);
        }
    }
}
