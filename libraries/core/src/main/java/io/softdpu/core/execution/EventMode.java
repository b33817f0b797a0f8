package io.softdpu.core.execution;

/**
 * Which contexts an engine in event mode looks after when a notification was seen (doca_pe event
 * modes); with the DOCA numbers. Nothing is lost in either: what a context has to do when the next
 * notification is requested makes it come at once.
 */
public enum EventMode {
    /**
     * Those that have something to do when {@link ProgressEngine#clearNotification()} is called,
     * until a progress finds nothing more; then all again. For engines with many contexts of which
     * few are busy.
     */
    SELECTIVE(0),
    /** All contexts: what one context's callback begins on another goes on at once. */
    ALL(1);

    private final int code;

    EventMode(int code) {
        this.code = code;
    }

    /** The DOCA number: 0 SELECTIVE, 1 ALL. */
    public int code() {
        return code;
    }
}
