package io.softdpu.fabric;

import io.softdpu.testkit.CpuMeter;

/**
 * Measures the CPU time of the bus thread's turns: a deadline that is never due, for which the loop
 * looks before it waits and after it has served. Between two looks lies a turn, or a part of one.
 */
final class BusTurns implements BusLoop.Handler, AutoCloseable {
    private final BusLoop loop;
    private final CpuMeter cpu = new CpuMeter();
    private volatile long looks; // written by the bus thread alone
    private long key = -1;

    BusTurns(Bus bus) {
        loop = bus.loop();
        loop.execute(() -> key = loop.addTimer(this));
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
    public long deadlineNanos() {
        cpu.next();
        looks++;
        return Long.MAX_VALUE;
    }

    @Override
    public void onEvents(int events) {
        throw new IllegalStateException("a timer has no descriptor");
    }

    @Override
    public void onShutdown() {}

    @Override
    public void close() {
        loop.execute(() -> loop.remove(key, -1));
    }
}
