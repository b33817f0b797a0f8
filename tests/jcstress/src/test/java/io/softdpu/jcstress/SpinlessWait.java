package io.softdpu.jcstress;

import io.softdpu.core.internal.wait.AdaptiveWait;
import io.softdpu.core.internal.wait.Waitable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Wait whose spins have failed so often that it yields at once, and whose time for yielding is over
 * after the first yield and the poll behind it. Used in turn as those of {@link Pollers} are.
 */
final class SpinlessWait {
    private static final AtomicLong NEXT = new AtomicLong();
    private static final SpinlessWait[] POOL = new SpinlessWait[Pollers.COUNT];

    static {
        for (int i = 0; i < POOL.length; i++) {
            POOL[i] = new SpinlessWait();
        }
    }

    private final AdaptiveWait wait = new AdaptiveWait(null, this::clock, () -> {});
    private long nanos;

    private SpinlessWait() {
        // More than the failures that disable spins.
        for (int i = 0; i < 100; i++) {
            wait.await(Workless.INSTANCE, 1);
        }
    }

    static SpinlessWait next() {
        return POOL[(int) (NEXT.getAndIncrement() % POOL.length)];
    }

    /** Waits without end; the situation must always be the same. */
    boolean await(Waitable waitable) {
        return wait.await(waitable, Long.MAX_VALUE);
    }

    private long clock() {
        nanos += AdaptiveWait.YIELD_NANOS;
        return nanos;
    }

    /** An engine that never has work. */
    private enum Workless implements Waitable {
        INSTANCE;

        @Override
        public int situation() {
            return 0;
        }

        @Override
        public boolean progress() {
            return false;
        }

        @Override
        public boolean isInterrupted() {
            return false;
        }

        @Override
        public boolean takeWake() {
            return false;
        }

        @Override
        public boolean arm() {
            return false;
        }

        @Override
        public void disarm() {}

        @Override
        public void sleep(long timeoutNanos) {}
    }
}
