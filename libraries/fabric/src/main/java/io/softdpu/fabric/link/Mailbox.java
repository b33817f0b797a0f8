package io.softdpu.fabric.link;

import io.softdpu.linux.text.Reason;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Queue of work that the bus thread and other threads post to an engine; it runs in the engine's
 * progress. Control path only: a post allocates a node.
 *
 * <p>Any thread posts; one thread drains.
 */
public final class Mailbox implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Mailbox.class.getName());

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final EventPoller poller;
    private volatile boolean closed;

    /** Creates a mailbox whose posts wake the given poller. */
    public Mailbox(EventPoller poller) {
        this.poller = poller;
    }

    /**
     * Posts work to the engine and wakes it; after the engine was closed the work runs on the
     * calling thread.
     */
    public void post(Runnable work) {
        queue.add(work);
        if (closed) {
            runLeft();
        } else {
            poller.wake();
        }
    }

    /** Whether the queue is empty: one volatile read. */
    public boolean isEmpty() {
        return queue.isEmpty();
    }

    /**
     * Runs the work that was posted before the call; work posted meanwhile waits for the next call.
     *
     * @return number of pieces of work that ran
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
     * Closes the mailbox with its engine: pending work runs now, and later posts run at once on the
     * posting thread, since the mailbox is not drained any more. Such work finds its context ended
     * and releases what it carries: a connection that came too late, an import.
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
                LOG.log(
                        System.Logger.Level.WARNING,
                        "work for an ended engine failed: " + Reason.of(e),
                        e);
            }
        }
    }
}
