package io.softdpu.storage;

/** Listener for the steps of a session. Called on the role's control thread; must not block. */
public interface SessionListener {
    /**
     * Called when a step begins.
     *
     * @param step the step
     * @param detail details such as a peer's address, or an empty text
     */
    default void step(SessionStep step, String detail) {}

    /** A listener that does nothing. */
    static SessionListener none() {
        return new SessionListener() {};
    }
}
