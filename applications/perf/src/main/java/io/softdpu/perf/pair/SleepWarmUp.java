package io.softdpu.perf.pair;

import io.softdpu.core.execution.ProgressEngine;
import java.time.Duration;

/**
 * Sleeps of an engine before a measurement, as many as the JVM needs to specialize their system
 * calls. At its 128th interpreted call a method handle gets a class of its own ({@code
 * MethodHandle.customize}), up to 65 KB of heap, which would count as an allocation of operations:
 * a thread that seldom sleeps gets there in the middle of a measurement. The handles are those of
 * the process, so any engine does it for all.
 */
public final class SleepWarmUp {
    /** More than the JVM counts, since it may compile the first of them meanwhile. */
    private static final int SLEEPS = 200;

    private static final Duration SHORT = Duration.ofNanos(1000);

    private SleepWarmUp() {}

    /** Sleeps until a time, and until a wake, by turns. The engine's thread. */
    public static void run(ProgressEngine engine) {
        for (int i = 0; i < SLEEPS; i++) {
            engine.requestNotification();
            boolean _ = engine.awaitNotification(SHORT);
            engine.wake();
            boolean _ = engine.awaitNotification(EngineTurns.TURN);
            engine.clearNotification();
        }
    }
}
