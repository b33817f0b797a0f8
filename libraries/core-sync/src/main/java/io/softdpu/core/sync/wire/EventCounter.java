package io.softdpu.core.sync.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Counter of a sync event in shared memory: one word of 64 bits, unsigned, that wraps. Any value is
 * legal. Any thread. All accesses are volatile: an update before a load of a {@link HandlePage},
 * and a store to one before a load of the counter, are in one order for all threads and processes.
 */
public final class EventCounter {
    /** Size of the memory. */
    public static final long BYTES = Long.BYTES;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private EventCounter() {}

    /** The value. */
    public static long get(MemorySegment counter) {
        return (long) WORD.getVolatile(counter, 0L);
    }

    /** Sets the value. */
    public static void set(MemorySegment counter, long value) {
        WORD.setVolatile(counter, 0L, value);
    }

    /** Adds to the value, and returns the value before. */
    public static long add(MemorySegment counter, long increment) {
        return (long) WORD.getAndAdd(counter, 0L, increment);
    }
}
