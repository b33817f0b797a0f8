package io.softdpu.perf.sync;

import io.softdpu.perf.text.Word;

/** Kind of measurement of a sync event. */
public enum SyncMode implements Word {
    /** Round trips: the host sets a value, the DPU waits for it and answers by the next. */
    LATENCY,
    /** Additions of both processes to one event. */
    RATE
}
