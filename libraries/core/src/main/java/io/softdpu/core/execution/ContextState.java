package io.softdpu.core.execution;

import io.softdpu.core.check.Arguments;

/** States of a context, with the DOCA numbers. */
public enum ContextState {
    /** Not started: it can be configured, connected to an engine, and closed. */
    IDLE(0),
    /** Start was called, and the reply of a peer is pending. */
    STARTING(1),
    /** Tasks can be submitted. */
    RUNNING(2),
    /** Stopping: tasks in flight are being flushed; only progress is allowed. */
    STOPPING(3);

    private final int code;

    ContextState(int code) {
        this.code = code;
    }

    /** The DOCA number: 0 IDLE to 3 STOPPING. */
    public int code() {
        return code;
    }

    /**
     * Whether the transition from this state to the next is allowed.
     *
     * <p>A context without a peer to wait for goes from IDLE to RUNNING directly. Every transition
     * back to IDLE passes through STOPPING, so that an observer of the states sees the flush begin.
     */
    public boolean mayBecome(ContextState next) {
        Arguments.notNull(next, "next");
        return switch (this) {
            case IDLE -> next == STARTING || next == RUNNING;
            case STARTING -> next == RUNNING || next == STOPPING;
            case RUNNING -> next == STOPPING;
            case STOPPING -> next == IDLE;
        };
    }
}
