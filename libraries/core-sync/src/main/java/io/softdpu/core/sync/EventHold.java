package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.Origins;
import io.softdpu.linux.text.Text;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Hold of a sync event on its device and on the memory of its program: both stay open, and no other
 * event gets the memory. One thread at a time.
 *
 * <p>It has the place where the event was created, for the report that it was never closed: by the
 * tracking of resources, and by a sanitizer when the event keeps its device from being closed.
 */
final class EventHold {
    /** Memory of programs that started sync events have: one event each. */
    private static final Map<SharedSegment, EventHold> MEMORY_IN_USE = new ConcurrentHashMap<>();

    private final Device device;
    private final String event;
    private final LibraryObject creation = LibraryObject.create();
    private LibraryObject.@Nullable Hold onDevice;
    private LibraryObject.@Nullable Hold onMemory;
    private @Nullable SharedSegment segment;
    private boolean reported;

    /**
     * Holds nothing yet.
     *
     * @param event name of an event that is created now, for messages
     */
    EventHold(Device device, String event) {
        this.device = device;
        this.event = event;
    }

    /**
     * Begins the hold; if it throws {@link #release} follows.
     *
     * @param memory of the program; null for none
     * @throws DpuException BAD_STATE if device or memory is closed; IN_USE while peers hold that
     *     memory from an export that was revoked, or another event has it
     */
    void acquire(@Nullable SharedMemory memory) {
        onDevice = LibraryObject.hold(device, event, this::closeRefused);
        if (Origins.isRecorded()) {
            Origins.opened(originName());
        }
        if (memory == null) {
            return;
        }
        onMemory = LibraryObject.hold(memory, event);
        SharedSegment acquired = BusServices.segmentOf(memory);
        segment = acquired;
        try {
            acquired.requireReleased();
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        if (MEMORY_IN_USE.putIfAbsent(acquired, this) != null) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "memory belongs to another sync event: event=%s, expected=memory of"
                                    + " its own",
                            event));
        }
    }

    /** Ends the hold; idempotent. */
    void release() {
        if (onMemory != null && segment != null) {
            MEMORY_IN_USE.remove(segment, this);
            onMemory.release();
            onMemory = null;
        }
        if (onDevice != null) {
            if (Origins.mayBeRecorded()) {
                Origins.closes(originName());
            }
            onDevice.release();
            onDevice = null;
        }
    }

    /** The device could not be closed because of the event. Any thread. */
    private synchronized void closeRefused() {
        if (!reported) {
            reported = true;
            creation.eventLeaked("sync event was not closed before its device: event=" + event);
        }
    }

    private String originName() {
        return "sync-event " + event;
    }
}
