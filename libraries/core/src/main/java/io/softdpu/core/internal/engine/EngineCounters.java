package io.softdpu.core.internal.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counters of an engine: its thread counts, any thread reads. */
final class EngineCounters {
    private static final VarHandle HITS;
    private static final VarHandle MISSES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HITS = lookup.findVarHandle(EngineCounters.class, "hits", long.class);
            MISSES = lookup.findVarHandle(EngineCounters.class, "misses", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long hits;
    private long misses;

    /** A pass of progress is over. */
    void passed(boolean progressed) {
        if (progressed) {
            HITS.setOpaque(this, hits + 1);
        } else {
            MISSES.setOpaque(this, misses + 1);
        }
    }

    long hits() {
        return (long) HITS.getOpaque(this);
    }

    long misses() {
        return (long) MISSES.getOpaque(this);
    }
}
