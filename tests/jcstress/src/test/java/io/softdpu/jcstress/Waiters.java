package io.softdpu.jcstress;

import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.core.internal.wait.YieldSleepWait;
import io.softdpu.fabric.link.EngineWaiter;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Engines and waiters for the states, taken round and round, since each holds two descriptors: more
 * than {@link Stress} has states at a time, so that no two of those share one.
 */
final class Waiters {
    static final int COUNT = 256;

    /** Far above any wake-up that is not lost. */
    static final long LOST_NANOS = 2_000_000_000L;

    private static final AtomicLong NEXT = new AtomicLong();

    private Waiters() {}

    /** A waiter that nobody has rung since. */
    static EngineWaiter waiter() {
        EngineWaiter waiter = Plain.POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        waiter.clear();
        return waiter;
    }

    /** An engine that nobody has rung since; not of the thread that will use it. */
    static EngineCore engine() {
        EngineCore engine = Engines.POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        engine.waiter().clear();
        return engine;
    }

    private static final class Plain {
        static final EngineWaiter[] POOL = new EngineWaiter[COUNT];

        static {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new EngineWaiter();
            }
        }
    }

    private static final class Engines {
        static final EngineCore[] POOL = new EngineCore[COUNT];

        static {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new EngineCore(new YieldSleepWait(null));
            }
        }
    }
}
