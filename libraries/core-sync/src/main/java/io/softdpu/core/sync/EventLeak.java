package io.softdpu.core.sync;

import io.softdpu.core.spi.LibraryObject;
import io.softdpu.linux.Origins;

/**
 * Record of the place where a sync event was created, for the report that it was never closed: by
 * the tracking of resources, and by a sanitizer when the event keeps its device from being closed.
 * Any thread.
 */
final class EventLeak {
    private final String event;
    private final LibraryObject creation = LibraryObject.create();
    private boolean reported;

    private EventLeak(String event) {
        this.event = event;
    }

    /** The record of an event that is created now. */
    static EventLeak begin(String event) {
        return new EventLeak(event);
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
        if (!reported) {
            reported = true;
            creation.eventLeaked("sync event was not closed before its device: event=" + event);
        }
    }

    private String originName() {
        return "sync-event " + event;
    }
}
