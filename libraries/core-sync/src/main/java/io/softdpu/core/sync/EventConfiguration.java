package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a sync event, set before its start: its locations, and the memory of its program
 * for the counter. Under the lock of the event.
 */
final class EventConfiguration {
    private final String event;
    private @Nullable SyncEventLocation publisher;
    private @Nullable SyncEventLocation subscriber;
    private @Nullable SharedMemory memory;

    /** For an event with this name in messages. */
    EventConfiguration(String event) {
        this.event = event;
    }

    // ---- setters, each once; see those of SyncEvent ----

    void addPublisher(SyncEventLocation location) {
        publisher = checkedLocation("publisher", publisher, location);
    }

    void addSubscriber(SyncEventLocation location) {
        subscriber = checkedLocation("subscriber", subscriber, location);
    }

    private SyncEventLocation checkedLocation(
            String kind, @Nullable SyncEventLocation present, SyncEventLocation added) {
        Arguments.notNull(added, "location");
        if (added == SyncEventLocation.DPA || added == SyncEventLocation.GPU) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "no such %s location on this machine: location=%s, event=%s,"
                                    + " expected=CPU, DPU or REMOTE",
                            kind, added, event));
        }
        if (present != null) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    Text.format(
                            "event has a %s location: location=%s, added=%s, event=%s",
                            kind, present, added, event));
        }
        return added;
    }

    void setMemory(SharedMemory ofUser) {
        if (memory != null) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    Text.format(
                            "event has memory of its user: sizeBytes=%d, event=%s",
                            memory.sizeBytes(), event));
        }
        if (ofUser.sizeBytes() != EventCounter.BYTES) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "memory of a sync event is exactly the counter, since an export exposes"
                                    + " all of it: sizeBytes=%d, event=%s,"
                                    + " expected=SharedMemory.allocate(8)",
                            ofUser.sizeBytes(), event));
        }
        LibraryObject.requireOpen(ofUser);
        memory = ofUser;
    }

    /** Takes the locations of the CPU handle. */
    void imported(SyncEventBlob blob) {
        publisher = SyncEventLocation.valueOf(blob.publisher().name());
        subscriber = SyncEventLocation.valueOf(blob.subscriber().name());
    }

    // ---- what was set ----

    @Nullable SyncEventLocation publisher() {
        return publisher;
    }

    @Nullable SyncEventLocation subscriber() {
        return subscriber;
    }

    /** The memory of the program; null if the library allocates the counter. */
    @Nullable SharedMemory memory() {
        return memory;
    }

    /** The memory of the program as a segment, or a new one. */
    SharedSegment memoryOfCounter() {
        if (memory != null) {
            return BusServices.segmentOf(memory);
        }
        try {
            return SharedSegment.allocate("softdpu-sync-event", EventCounter.BYTES);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
    }

    /**
     * Refuses a start without a location, or with memory of the program and other locations than
     * one CPU and one DPU.
     */
    void requireComplete() {
        requireItem("publisher location", "addPublisherLocation", publisher);
        requireItem("subscriber location", "addSubscriberLocation", subscriber);
        boolean oneOfEach =
                (publisher == SyncEventLocation.CPU && subscriber == SyncEventLocation.DPU)
                        || (publisher == SyncEventLocation.DPU
                                && subscriber == SyncEventLocation.CPU);
        if (memory != null && !oneOfEach) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "memory of the program is for events of one CPU and one DPU:"
                                    + " publisher=%s, subscriber=%s, event=%s",
                            publisher, subscriber, event));
        }
    }

    private void requireItem(String item, String setter, @Nullable Object value) {
        if (value == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "mandatory item is missing: item=%s, event=%s, expected=%s, before"
                                    + " start",
                            item, event, setter));
        }
    }
}
