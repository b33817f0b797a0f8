package io.softdpu.fabric.link;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the bus thread and other engines leave for an engine; it becomes visible in the engine's
 * progress. Control path only: a post allocates a node.
 *
 * <p>Any thread posts; one thread drains.
 */
public final class Mailbox implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Mailbox.class.getName());

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final EngineWaiter waiter;
    private volatile boolean closed;

    /** Creates a mailbox whose posts wake the given waiter. */
    public Mailbox(EngineWaiter waiter) {
        this.waiter = waiter;
    }

    /** Leaves work for the engine and wakes it; once it has ended the work runs here and now. */
    public void post(Runnable work) {
        queue.add(work);
        if (closed) {
            runLeft();
        } else {
            waiter.wake();
        }
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

    /**
     * Ends the mailbox with its engine: what was left runs now, and what is posted from now on at
     * once on the thread that posts it, since nobody will drain it any more. It finds its context
     * ended, and gives back what it brought: a connection that came too late, an import.
     */
    @Override
    public void close() {
        closed = true;
        runLeft();
    }

    private void runLeft() {
        Runnable work;
        while ((work = queue.poll()) != null) {
            try {
                work.run();
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "work for an ended engine failed: " + e, e);
            }
        }
    }
}
