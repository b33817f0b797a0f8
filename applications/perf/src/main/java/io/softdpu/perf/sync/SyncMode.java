package io.softdpu.perf.sync;

import java.util.Locale;

/** Kind of measurement of a sync event. */
public enum SyncMode {
    /** Round trips: the host sets a value, the DPU waits for it and answers by the next. */
    LATENCY,
    /** Additions of both processes to one event. */
    RATE;

    /** The name on command lines and in results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
