package io.softdpu.core.sync;

import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The two handles of a sync event, joined by the handshake of the product over two buses of this
 * process, each with a thread that may sleep. Used in turn, since each holds descriptors: there are
 * more than jcstress has states of such tests at a time.
 */
final class HandlePair {
    private static final int COUNT = 256;

    /** Below the 30 s after which jcstress ends a test without its outcome. */
    private static final long LOST_NANOS = 15_000_000_000L;

    private static final HandlePair[] POOL = new HandlePair[COUNT];
    private static final AtomicLong NEXT = new AtomicLong();

    static {
        try {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new HandlePair();
            }
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final CpuHandle cpu;
    final DpuHandle dpu;
    final CounterAccess byCpu;
    final CounterAccess byDpu;
    final Napper ofCpu = new Napper();
    final Napper ofDpu = new Napper();
    private final SharedSegment counter;

    private HandlePair() throws InterruptedException, ExecutionException, TimeoutException {
        counter = SharedSegment.allocate("counter", EventCounter.BYTES);
        cpu = new CpuHandle(Buses.HOST, counter, false);
        dpu = Buses.join(cpu, ImportKind.DPU_HANDLE);
        byCpu = cpu.newAccess();
        byDpu = dpu.newAccess();
        cpu.sleepers.add(ofCpu);
        dpu.sleepers.add(ofDpu);
    }

    /** A pair whose counter is 0; no thread sleeps on it, and no doorbell is pending. */
    static HandlePair next() {
        HandlePair next = POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        EventCounter.set(next.counter.segment(), 0);
        next.ofCpu.clear(next.cpu);
        next.ofDpu.clear(next.dpu);
        return next;
    }

    /** A thread that sleeps through a handle. */
    static final class Napper extends Sleeper {
        private final EventPoller poller = new EventPoller();

        /** Forgets doorbells of an earlier use; it does not sleep. */
        void clear(EventHandle handle) {
            handle.disarm(this);
            poller.clear();
            handle.disarm(this);
        }

        /**
         * Sleeps until another value than 0, as an engine does.
         *
         * @return whether it has seen one, or was woken
         */
        boolean sleep(EventHandle handle) {
            return handle.arm(this, 0) || poller.sleep(LOST_NANOS);
        }

        @Override
        EventPoller poller() {
            return poller;
        }

        @Override
        void wake() {
            poller.wake();
        }
    }
}
