package io.softdpu.core.memory;

import io.softdpu.linux.text.Text;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/** Count of the bufs, pools and contexts that use an mmap, until it is closed. Any thread. */
final class MmapUsers {
    /** Count after close: far below 0, so that late users do not make it positive. */
    private static final int CLOSED = Integer.MIN_VALUE / 2;

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(MmapUsers.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** All users. */
    @SuppressWarnings("unused") // through COUNT
    private volatile int count;

    /** Users other than bufs: those are added on the data path, at the cost of one count. */
    private final AtomicInteger pools = new AtomicInteger();

    private final AtomicInteger contexts = new AtomicInteger();

    /** Number of users; 0 after close. */
    int count() {
        return Math.max(0, count);
    }

    /** Pools and arrays that are started. */
    AtomicInteger pools() {
        return pools;
    }

    /** Contexts of libraries. */
    AtomicInteger contexts() {
        return contexts;
    }

    /** The number of users, in all and of each kind, for messages. */
    String describe() {
        int all = count();
        int ofPools = pools.get();
        int ofContexts = contexts.get();
        return Text.format(
                "users=%d, bufs=%d, pools=%d, contexts=%d",
                all, Math.max(0, all - ofPools - ofContexts), ofPools, ofContexts);
    }

    /** Adds a user; false if it is closed. */
    boolean retain() {
        int before = (int) COUNT.getAndAdd(this, 1);
        if (before < 0) {
            release();
        }
        return before >= 0;
    }

    /** Removes a user; false if there was none. */
    boolean release() {
        return (int) COUNT.getAndAdd(this, -1) != 0;
    }

    /** Refuses further users; false, without effect, if there are any. */
    boolean close() {
        return COUNT.compareAndSet(this, 0, CLOSED);
    }
}
