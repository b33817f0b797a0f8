package io.softdpu.storage.worker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counter that one thread increments and any thread may read, with a short delay. */
public final class Counter {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // read and written through VALUE
    private long value;

    /** Adds to the counter; one thread only. */
    public void add(long amount) {
        // Opaque: compiles to a plain store, but must not be optimised away.
        VALUE.setOpaque(this, (long) VALUE.get(this) + amount);
    }

    /** The value; any thread. */
    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
