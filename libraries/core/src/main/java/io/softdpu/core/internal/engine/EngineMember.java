package io.softdpu.core.internal.engine;

/** What an engine does with a context that is connected to it. The engine's thread. */
public abstract class EngineMember {
    /** For the engine alone: whether it had something to do when the notification was seen. */
    boolean selected;

    /** The context's name, for messages. */
    public abstract String describe();

    /** Whether it can be waited for in event mode. */
    public abstract boolean isEventDrivenSupported();

    /**
     * Does what can be done now.
     *
     * @return whether anything was done
     */
    public abstract boolean progress();

    /**
     * Asks to be woken when there is something to do, and then looks once more.
     *
     * @return true if there is something to do already: do not sleep
     */
    public abstract boolean arm();

    /** Takes {@link #arm()} back. */
    public abstract void disarm();
}
