package io.softdpu.perf.sync;

import io.softdpu.perf.text.Word;

/** Way in which both processes wait for the other's value. */
public enum SyncWait implements Word {
    /** A synchronous wait that spins. */
    BUSY,
    /** A synchronous wait that yields the processor between two looks. */
    YIELD,
    /** A wait task, asleep on the event handle of its engine. */
    EVENT
}
