package io.softdpu.fabric;

import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.testkit.CpuMeter;

/**
 * Measures the CPU time of the bus thread's turns: a deadline that is due in each of them, so that
 * the loop does not wait meanwhile. Between two looks lies a turn.
 */
final class BusTurns implements BusLoop.Handler, AutoCloseable {
    private final BusLoop loop;
    private final CpuMeter cpu = new CpuMeter();
    private volatile long looks; // written by the bus thread alone
    private BusWatch watch;

    BusTurns(Bus bus) {
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

    /** How often the loop has looked. */
    long looks() {
        return looks;
    }

    @Override
    public void onDeadline() {
        cpu.next();
        looks++;
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
