package io.softdpu.fabric;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the bus thread and other engines leave for an engine; it becomes visible in the engine's
 * progress. Control path only: a post allocates a node.
 *
 * <p>Any thread posts; one thread drains.
 */
public final class Mailbox {
    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final EngineWaiter waiter;

    /** Creates a mailbox whose posts wake the given waiter. */
    public Mailbox(EngineWaiter waiter) {
        this.waiter = waiter;
    }

    /** Leaves work for the engine and wakes it. */
    public void post(Runnable work) {
        queue.add(work);
        waiter.wake();
    }

    /** Whether nothing is there: one volatile read. */
    public boolean isEmpty() {
        return queue.isEmpty();
    }

    /**
     * Runs what was there when the call began; what that posts waits for the next call.
     *
     * @return how many pieces of work ran
     */
    public int drain() {
        int ran = 0;
        int limit = queue.isEmpty() ? 0 : queue.size();
        while (ran < limit) {
            Runnable work = queue.poll();
            if (work == null) {
                break;
            }
            ran++;
            work.run();
        }
        return ran;
    }
}
