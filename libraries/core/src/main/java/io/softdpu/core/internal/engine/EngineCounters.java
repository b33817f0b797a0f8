package io.softdpu.core.internal.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counters of an engine: its thread counts, any thread reads. */
final class EngineCounters {
    private static final VarHandle HITS;
    private static final VarHandle MISSES;
    private static final VarHandle IN_FLIGHT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HITS = lookup.findVarHandle(EngineCounters.class, "hits", long.class);
            MISSES = lookup.findVarHandle(EngineCounters.class, "misses", long.class);
            IN_FLIGHT = lookup.findVarHandle(EngineCounters.class, "inFlight", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long hits;
    private long misses;
    private int inFlight;

    /** A pass of progress is over. */
    void passed(boolean progressed) {
        if (progressed) {
            HITS.setOpaque(this, hits + 1);
        } else {
            MISSES.setOpaque(this, misses + 1);
        }
    }

    void addInFlight(int tasks) {
        IN_FLIGHT.setOpaque(this, inFlight + tasks);
    }

    long hits() {
        return (long) HITS.getOpaque(this);
    }

    long misses() {
        return (long) MISSES.getOpaque(this);
    }

    int inFlight() {
        return (int) IN_FLIGHT.getOpaque(this);
    }
}
