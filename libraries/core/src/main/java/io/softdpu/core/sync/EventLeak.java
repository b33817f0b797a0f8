package io.softdpu.core.sync;

import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.linux.Origins;
import org.jspecify.annotations.Nullable;

/**
 * Record of the place where a sync event was created, for the report that it was never closed: by
 * the tracking of resources, and by a sanitizer when the event keeps its device from being closed.
 * Any thread.
 */
final class EventLeak {
    private final String event;
    private final @Nullable SanitizerState sanitizer;
    private final @Nullable Throwable createdAt;
    private boolean reported;

    private EventLeak(String event, @Nullable SanitizerState sanitizer) {
        this.event = event;
        this.sanitizer = sanitizer;
        this.createdAt = sanitizer == null ? null : SanitizerState.place();
    }

    /** The record of an event that is created now. */
    static EventLeak begin(String event) {
        return new EventLeak(event, SanitizerState.current());
    }

    void opened() {
        if (Origins.isRecorded()) {
            Origins.opened(originName());
        }
    }

    void closed() {
        if (Origins.mayBeRecorded()) {
            Origins.closes(originName());
        }
    }

    /** The device could not be closed because of the event. */
    synchronized void closeRefused() {
        if (sanitizer != null && !reported) {
            reported = true;
            sanitizer.report(
                    Mistake.EVENT_LEAKED,
                    "sync event was not closed before its device: event=" + event,
                    createdAt);
        }
    }

    private String originName() {
        return "sync-event " + event;
    }
}
