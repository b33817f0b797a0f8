package io.softdpu.fabric;

import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.testkit.CpuMeter;

/**
 * Meter of the CPU time per turn of the bus thread: a deadline that is due in each turn, so that
 * the loop does not wait, and is counted.
 */
final class BusThreadMeter implements BusLoop.Handler, AutoCloseable {
    private final BusLoop loop;
    private final CpuMeter cpu = new CpuMeter();
    private volatile long turns; // written by the bus thread alone
    private BusWatch watch;

    BusThreadMeter(Bus bus) {
        loop = bus.threads().loop();
        loop.execute(() -> {
            watch = loop.join(this);
            onDeadline();
        });
    }

    /** CPU time of the longest, in nanoseconds. */
    long longestCpuNanos() {
        return cpu.longestNanos();
    }

    /** Number of turns. */
    long turns() {
        return turns;
    }

    @Override
    public void onDeadline() {
        cpu.next();
        turns++;
        watch.setDeadline(System.nanoTime());
    }

    @Override
    public void onEvents(int events) {
        throw new IllegalStateException("a timer has no descriptor");
    }

    @Override
    public void onShutdown() {}

    @Override
    public void close() {
        loop.execute(() -> watch.end());
    }
}
