package io.softdpu.storage;

/** Hears how a session proceeds. Called on the role's control thread; must not block. */
public interface SessionListener {
    /**
     * A step begins.
     *
     * @param step which
     * @param detail what is worth knowing about it, or an empty text
     */
    default void step(SessionStep step, String detail) {}

    /** A listener that does nothing. */
    static SessionListener none() {
        return new SessionListener() {};
    }
}
