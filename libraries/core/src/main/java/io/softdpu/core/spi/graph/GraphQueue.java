package io.softdpu.core.spi.graph;

import io.softdpu.core.DpuException;
import org.jspecify.annotations.Nullable;

/** Work queue as the graphs on it use it. The queue's thread, unless a method says otherwise. */
public interface GraphQueue {
    /** The thread that created the queue. Any thread. */
    Thread owner();

    /**
     * Refuses a call from any thread but the queue's, and any after close. Any thread.
     *
     * @throws DpuException NOT_PERMITTED naming both threads; BAD_STATE if the queue is closed
     */
    void requireUsable();

    /** Whether the queue was added to a context. */
    boolean hasContext(Object context);

    /** The graphs of this queue; null if none was added. */
    @Nullable QueueGraphs graphs();

    /** Sets what drives the graphs, with the first. */
    void setGraphs(QueueGraphs newGraphs);

    /** Reserves places for an instance; whether there are as many. */
    boolean reserve(int places);

    /** Returns the places of an instance. */
    void release(int places);

    /** Signals work after arming, since an instance was submitted. */
    void instanceSubmitted();
}
