package io.softdpu.core.sync;

import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU handle of a sync event whose counter adapters change, with a thread that may sleep. Used
 * in turn, as {@link HandlePair}.
 */
final class AdapterEvent {
    private static final int COUNT = 256;
    private static final AdapterEvent[] POOL = new AdapterEvent[COUNT];
    private static final AtomicLong NEXT = new AtomicLong();

    static {
        for (int i = 0; i < COUNT; i++) {
            POOL[i] = new AdapterEvent();
        }
    }

    private final SharedSegment counter = SharedSegment.allocate("counter", EventCounter.BYTES);
    private final CpuHandle cpu = new CpuHandle(Buses.HOST, counter, false);
    private final Sleeping sleeper = new Sleeping();

    private AdapterEvent() {
        cpu.sleepers.add(sleeper);
    }

    /** An event whose counter is 0, and on which no thread sleeps. */
    static AdapterEvent next() {
        AdapterEvent next = POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        EventCounter.set(next.counter.segment(), 0);
        next.cpu.disarm(next.sleeper);
        next.sleeper.woken = false;
        return next;
    }

    /** Sets the counter to 1 by a plain store, as an RDMA write does, and tells of the change. */
    void write() {
        counter.segment().set(ValueLayout.JAVA_LONG, 0, 1);
        tell();
    }

    /** Tells of a change, as an adapter does behind each write. */
    void tell() {
        cpu.changedByAdapter();
    }

    /** Asks to be woken by another value than 0; whether there is one already. */
    boolean arm() {
        return cpu.arm(sleeper, 0);
    }

    /** Whether the thread was woken. */
    boolean isWoken() {
        return sleeper.woken;
    }

    private static final class Sleeping extends Sleeper {
        private volatile boolean woken;

        @Override
        EventPoller poller() {
            throw new AssertionError("listens to nothing");
        }

        @Override
        void wake() {
            woken = true;
        }
    }
}
