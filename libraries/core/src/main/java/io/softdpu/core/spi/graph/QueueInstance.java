package io.softdpu.core.spi.graph;

import io.softdpu.core.Status;

/** Graph instance that has ended on a work queue and waits to be retrieved. */
public interface QueueInstance {
    /** SUCCESS, or the status of the first failure. */
    Status status();

    /** The number that its user has attached. */
    long userData();

    /** The instance as users see it. */
    Object instance();

    /** The user has retrieved it. */
    void retrieved();
}
