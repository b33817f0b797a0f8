package io.softdpu.core.execution;

/**
 * Selection of the contexts that an engine in event mode progresses after a notification (doca_pe
 * event modes); with the DOCA numbers. No work is lost in either mode: if a context has work when
 * the next notification is requested, it is signalled at once.
 */
public enum EventMode {
    /**
     * Contexts that have work when {@link ProgressEngine#clearNotification()} is called, until a
     * progress finds no more; then all again. For engines with many contexts of which few are busy.
     */
    SELECTIVE(0),
    /** All contexts: work that one context's callback starts on another continues at once. */
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
