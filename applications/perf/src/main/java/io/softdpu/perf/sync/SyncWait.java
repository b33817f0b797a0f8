package io.softdpu.perf.sync;

import java.util.Locale;

/** Way in which both processes wait for the other's value. */
public enum SyncWait {
    /** A synchronous wait that spins. */
    BUSY,
    /** A synchronous wait that yields the processor between two looks. */
    YIELD,
    /** A wait task, asleep on the event handle of its engine. */
    EVENT;

    /** The name on command lines and in results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
