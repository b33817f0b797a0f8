package io.softdpu.core.sync;

import io.softdpu.fabric.link.EventPoller;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Thread that sleeps until the counter of a sync event changes: that of an engine or of a work
 * queue. Belongs to that thread, except for {@link #wake()} and the request, which any thread
 * takes.
 */
abstract class Sleeper {
    private static final VarHandle ARMED;

    static {
        try {
            ARMED = MethodHandles.lookup().findVarHandle(Sleeper.class, "armed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through ARMED
    private volatile boolean armed;

    private volatile long seen;

    /** The doorbells that end its sleep. */
    final SleeperLinks links = new SleeperLinks(this);

    /** The poller in which the thread sleeps. */
    abstract EventPoller poller();

    /** Ends the sleep. Any thread; allocates nothing. */
    abstract void wake();

    /** Sets the request; whether it was not set before. */
    final boolean request(long valueSeen) {
        seen = valueSeen;
        return ARMED.compareAndSet(this, false, true);
    }

    /** Whether the request is set, and the counter has changed since. */
    final boolean isDue(long value) {
        return armed && seen != value;
    }

    /** Takes the request; whether this call took it. */
    final boolean take() {
        return ARMED.compareAndSet(this, true, false);
    }
}
