package io.softdpu.jcstress;

import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.wait.AdaptiveWait;
import io.softdpu.fabric.link.EventPoller;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Engines and pollers for the states, used in turn, since each holds descriptors: more than {@link
 * Stress} has states at a time, so that no two of those share one.
 */
final class Pollers {
    static final int COUNT = 256;

    /**
     * Far above any wake-up that is not lost, and below the 30 s after which jcstress ends a test
     * without its outcome.
     */
    static final long LOST_NANOS = 15_000_000_000L;

    private static final AtomicLong NEXT = new AtomicLong();

    private Pollers() {}

    /** A poller without a pending wake-up. */
    static EventPoller poller() {
        EventPoller poller = Plain.POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        poller.clear();
        return poller;
    }

    /** An engine without a pending wake-up; not of the thread that will use it. */
    static EngineImpl engine() {
        EngineImpl engine = Engines.POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        engine.poller().clear();
        return engine;
    }

    private static final class Plain {
        static final EventPoller[] POOL = new EventPoller[COUNT];

        static {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new EventPoller();
            }
        }
    }

    private static final class Engines {
        static final EngineImpl[] POOL = new EngineImpl[COUNT];

        static {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new EngineImpl(new AdaptiveWait(null));
            }
        }
    }
}
