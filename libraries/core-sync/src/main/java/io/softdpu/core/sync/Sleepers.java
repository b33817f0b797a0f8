package io.softdpu.core.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Threads of this process that may sleep until the counter changes, through one handle. Any thread.
 * All accesses are volatile: an update followed by {@link #anyArmed}, and {@link #arm} followed by
 * a load of the counter, are in one order for all threads, which loses no wake-up.
 */
final class Sleepers {
    private static final VarHandle ARMED;

    static {
        try {
            ARMED = MethodHandles.lookup().findVarHandle(Sleepers.class, "armed", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile Sleeper[] all = {};

    @SuppressWarnings("unused") // through ARMED
    private volatile int armed;

    synchronized void add(Sleeper sleeper) {
        Sleeper[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = sleeper;
        all = more;
    }

    @SuppressWarnings("ReferenceEquality") // sleepers are compared by identity
    synchronized void remove(Sleeper sleeper) {
        disarm(sleeper);
        all = Arrays.stream(all).filter(each -> each != sleeper).toArray(Sleeper[]::new);
    }

    /** Whether any thread wants to be woken; one volatile load. */
    boolean anyArmed() {
        return armed != 0;
    }

    /** Requests that a thread is woken by the next change of the counter from a value. */
    void arm(Sleeper sleeper, long seen) {
        if (sleeper.request(seen)) {
            ARMED.getAndAdd(this, 1);
        }
    }

    /** Cancels the request, unless a waker has taken it. */
    void disarm(Sleeper sleeper) {
        boolean _ = take(sleeper);
    }

    /**
     * Wakes those that have seen another value.
     *
     * @return number of them
     */
    int wakeChanged(long value) {
        int woken = 0;
        for (Sleeper sleeper : all) {
            if (sleeper.isDue(value) && take(sleeper)) {
                sleeper.wake();
                woken++;
            }
        }
        return woken;
    }

    /** Wakes all that have requested it. */
    void wakeAll() {
        for (Sleeper sleeper : all) {
            if (take(sleeper)) {
                sleeper.wake();
            }
        }
    }

    private boolean take(Sleeper sleeper) {
        if (!sleeper.take()) {
            return false;
        }
        ARMED.getAndAdd(this, -1);
        return true;
    }
}
