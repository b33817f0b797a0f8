package io.softdpu.core.sync;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU handle of a sync event with a thread that may sleep, and a remote event that has joined
 * it, as an RDMA transport uses it. Used in turn, as {@link HandlePair}.
 */
final class RemotePair {
    private static final int COUNT = 256;
    private static final RemotePair[] POOL = new RemotePair[COUNT];
    private static final AtomicLong NEXT = new AtomicLong();
    private static final MemorySegment ONE = MemorySegment.ofArray(new long[] {1});

    static {
        try {
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new RemotePair();
            }
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CpuHandle cpu;
    private final DpuHandle remote;
    private final HandlePair.Napper ofCpu = new HandlePair.Napper();
    private final SharedSegment counter;
    private final Copier copier = new Copier();

    private RemotePair() throws InterruptedException, ExecutionException, TimeoutException {
        counter = SharedSegment.allocate("counter", EventCounter.BYTES);
        cpu = new CpuHandle(Buses.HOST, counter, false);
        remote = Buses.join(cpu, ImportKind.REMOTE_EVENT);
        cpu.sleepers.add(ofCpu);
    }

    /** A pair whose counter is 0; the thread does not sleep, and no doorbell is pending. */
    static RemotePair next() {
        RemotePair next = POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        EventCounter.set(next.counter.segment(), 0);
        next.ofCpu.clear(next.cpu);
        return next;
    }

    /** Sets the counter to 1, as a notify set over shared memory does. */
    void set() {
        copier.storeWord(ONE, 0, remote.memory(), 0);
        remote.changed();
    }

    /** As {@link HandlePair.Napper#sleep}. */
    boolean sleep() {
        return ofCpu.sleep(cpu);
    }
}
