package io.softdpu.core.resource;

import io.softdpu.linux.Origins;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tracking of the resources that softdpu creates for one thread and the threads that it creates,
 * from {@link #start} to {@link #close()}, with the place of each creation. Several may be open in
 * one JVM: each sees its own. If several are open on one thread, the one started last sees what is
 * created, and its close returns to the one before that is still open.
 *
 * <p>While one is open, each creation costs the time of a stack trace; the data path creates
 * nothing.
 */
public final class ResourceTracking implements AutoCloseable {
    /** The owner of what this thread created before; another tracking, or null. */
    private final @Nullable Object before;

    private volatile boolean closed;

    private ResourceTracking(@Nullable Object before) {
        this.before = before;
    }

    /** Starts the tracking of this thread, before one that it has already. */
    public static ResourceTracking start() {
        ResourceTracking started = new ResourceTracking(Origins.recordedFor());
        Origins.recordFor(started);
        return started;
    }

    /** What was created and is not released yet, by name. Any thread, also after the end. */
    public List<OpenResource> open() {
        List<OpenResource> open = new ArrayList<>();
        Origins.openOf(this)
                .forEach((name, createdAt) -> open.add(new OpenResource(name, createdAt)));
        return open;
    }

    /**
     * Ends the tracking on the calling thread, and no other tracking; threads that it has created
     * go on, except those that close a tracking of their own later. Closing twice does nothing.
     */
    @Override
    @SuppressWarnings("ReferenceEquality") // owners are compared by identity
    public void close() {
        closed = true;
        if (Origins.recordedFor() == this) {
            Origins.recordFor(openBefore());
        }
    }

    private @Nullable Object openBefore() {
        Object owner = before;
        while (owner instanceof ResourceTracking tracking && tracking.closed) {
            owner = tracking.before;
        }
        return owner;
    }
}
