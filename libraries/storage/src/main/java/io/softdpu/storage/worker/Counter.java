package io.softdpu.storage.worker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A number that one thread counts up and any thread may read, a little late. */
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

    /** Adds to the number; the counting thread alone. */
    public void add(long amount) {
        // Opaque: a plain store as far as the machine is concerned, but not one that may be
        // dropped.
        VALUE.setOpaque(this, (long) VALUE.get(this) + amount);
    }

    /** The number; any thread. */
    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
