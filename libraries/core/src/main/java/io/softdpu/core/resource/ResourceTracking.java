package io.softdpu.core.resource;

import io.softdpu.linux.Origins;
import java.util.ArrayList;
import java.util.List;

/**
 * Tracking of the resources that softdpu creates for one thread and the threads that it creates,
 * from {@link #start} to {@link #close()}, with the place of each creation. Several may be open in
 * one JVM, one per thread: each sees its own.
 *
 * <p>While one is open, each creation costs the time of a stack trace; the data path creates
 * nothing.
 */
public final class ResourceTracking implements AutoCloseable {
    private ResourceTracking() {}

    /** Starts the tracking of this thread, instead of one that it had. */
    public static ResourceTracking start() {
        ResourceTracking started = new ResourceTracking();
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

    /** Ends the tracking on the calling thread; threads that it has created go on. */
    @Override
    public void close() {
        Origins.recordFor(null);
    }
}
