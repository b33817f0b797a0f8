package io.softdpu.core.execution;

import io.softdpu.core.check.Arguments;

/** Where a context is in its life; with the DOCA numbers. */
public enum ContextState {
    /** Not started: it can be configured, connected to an engine, and closed. */
    IDLE(0),
    /** Start was called, and a peer or the other side still has to answer. */
    STARTING(1),
    /** Tasks can be submitted. */
    RUNNING(2),
    /** Stopping: what is in flight is being flushed; only progress is allowed. */
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
     * Whether a context may go from this state to that one directly.
     *
     * <p>A context without a peer to wait for goes from IDLE straight to RUNNING. Every way back to
     * IDLE leads through STOPPING, so that whoever watches the states sees the flush begin.
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
