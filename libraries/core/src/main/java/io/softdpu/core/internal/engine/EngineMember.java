package io.softdpu.core.internal.engine;

import org.jspecify.annotations.Nullable;

/** Context as its engine uses it. The engine's thread. */
public abstract class EngineMember {
    /** Whether it had work when the notification was cleared; used by the engine only. */
    boolean selected;

    /** The context's name, for messages. */
    public abstract String describe();

    /** The context's state, its tasks, and what it waits for, for messages. */
    public abstract String describeWork();

    /**
     * The engine that it was connected to; null for none. Other threads may see an earlier value.
     */
    public abstract @Nullable EngineImpl engine();

    /** Whether it was ever started. Any thread. */
    public abstract boolean wasStarted();

    /** Whether its start or stop waits for a peer. */
    public abstract boolean awaitsEvents();

    /** Whether it can be waited for in event mode. */
    public abstract boolean isEventDrivenSupported();

    /**
     * Does the work that can be done now.
     *
     * @return whether anything was done
     */
    public abstract boolean progress();

    /**
     * Requests a wake-up when there is work, then checks for work once more.
     *
     * @return true if there is work already: do not sleep
     */
    public abstract boolean arm();

    /** Cancels {@link #arm()}. */
    public abstract void disarm();
}
