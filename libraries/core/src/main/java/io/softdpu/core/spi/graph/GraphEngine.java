package io.softdpu.core.spi.graph;

import io.softdpu.core.DpuException;

/** Progress engine as the graphs on it use it. The engine's thread. */
public interface GraphEngine {
    /** The thread that the engine belongs to. */
    Thread owner();

    /** Whether it is closed. */
    boolean isClosed();

    /**
     * Refuses a call from any thread but the engine's.
     *
     * @throws DpuException NOT_PERMITTED naming both threads
     */
    void requireOwner();

    /**
     * Refuses a call on an engine that is closed.
     *
     * @throws DpuException BAD_STATE
     */
    void requireOpen();

    /** Adds a graph, which starts. */
    void connect(EngineMember member);

    /** Removes a graph; inside progress its slot stays empty until the pass is over. */
    void disconnect(EngineMember member);

    /**
     * Arms a member for a notification that was requested before, and signals it if due. For each
     * submission: a program in event mode may submit between its request and its sleep; if progress
     * executes the work, only this call signals the notification. Also for a task that was refused:
     * if its context waits for what the task lacked, as for a buffer of the peer, the end of that
     * wait signals the notification.
     */
    void signalWorkOf(EngineMember member);

    /**
     * Number of events after which a submission that was refused for now may have another answer:
     * passes that did something, as all do in which a task completes, and changes of the state of
     * contexts.
     */
    long changes();

    /**
     * Keeps an exception of a user's callback until the end of this pass of progress, which then
     * throws it, with later ones of the same pass suppressed in it.
     */
    void callbackFailed(Throwable thrown);

    /**
     * Begins a callback outside of a pass, which has the rules of one inside: no progress, no wait.
     *
     * @return false inside a pass, or another such callback: there is nothing to leave then
     */
    boolean enterCallback();

    /** Ends what {@link #enterCallback} has begun. */
    void leaveCallback();
}
