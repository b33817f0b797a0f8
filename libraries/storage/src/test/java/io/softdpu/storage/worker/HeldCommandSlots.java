package io.softdpu.storage.worker;

import io.softdpu.storage.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Locks of the command slots of workers, held by threads of its own until it is closed. */
public final class HeldCommandSlots implements AutoCloseable {
    private final CountDownLatch released = new CountDownLatch(1);
    private final List<Thread> holders = new ArrayList<>();

    /** Returns when all locks are held. */
    public HeldCommandSlots(List<? extends Worker> workers) {
        CountDownLatch held = new CountDownLatch(workers.size());
        for (Worker worker : workers) {
            holders.add(Thread.ofPlatform().daemon().start(() -> hold(worker.commands(), held)));
        }
        Pipeline.await(held);
    }

    /** The wake-up of a worker is called under the lock; the command itself is given up. */
    private void hold(CommandSlot slot, CountDownLatch held) {
        try {
            slot.execute(
                    () -> {},
                    1,
                    () -> {
                        held.countDown();
                        Pipeline.await(released);
                    });
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Releases the locks, and waits until they are free. */
    @Override
    public void close() {
        released.countDown();
        holders.forEach(Pipeline::join);
    }
}
