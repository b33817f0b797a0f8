package io.softdpu.fabric.thread;

import io.softdpu.linux.Origins;
import io.softdpu.linux.text.Reason;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads that map, populate and unmap memory of peers. The peer determines how long that takes (up
 * to two seconds per GiB), so neither the bus thread nor an engine does it.
 *
 * <p>Work is done in slices. Each peer has a queue of its own, of which one slice runs at a time.
 * The queues take turns, and so do the tasks of a queue: gigabytes delay another peer by at most
 * one slice per thread, and a small import of the same peer by one slice of each task before it. At
 * most {@link #THREADS_LIMIT} threads exist; the first lives as long as the bus. Any thread
 * submits.
 */
public final class MappingWorkers {
    /** Size of a slice of mapping or unmapping: some milliseconds if the pages exist. */
    public static final long SLICE_BYTES = 16L << 20;

    /** Limit of slices that run at the same time. */
    static final int THREADS_LIMIT = 2;

    /** Limit of waiting tasks per peer; more than the limit of pending handshakes. */
    public static final int WAITING_LIMIT = 512;

    /** Queue of memory that belongs to this process. */
    public static final int OWN_MEMORY = -1;

    /** Time after which an idle second thread exits. */
    private static final long IDLE_NANOS = 100_000_000L;

    private static final System.Logger LOG = System.getLogger(MappingWorkers.class.getName());

    /** Work in slices. */
    public interface Task {
        /** Does the next slice; false when the task is done. */
        boolean runSlice();
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Tasks by process id of the peer; an entry exists while its queue has a task. */
    private final Map<Integer, ArrayDeque<Task>> queues = new HashMap<>();

    /** Peers with a task of which no slice runs, in the order of their turns. */
    private final ArrayDeque<Integer> ready = new ArrayDeque<>();

    private final Set<Thread> threads = new HashSet<>();
    private int idle;
    private boolean ending;
    private boolean ended;

    /**
     * Starts the first thread.
     *
     * @throws OutOfMemoryError if no thread can be started
     */
    void start() {
        lock.lock();
        try {
            startThread(true);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Queues work. After {@link #end}, and where no thread exists and none can be started, it runs
     * at once on the calling thread.
     *
     * @param peer process id of the peer that the work is for, or {@link #OWN_MEMORY}
     */
    public void submit(int peer, Task task) {
        lock.lock();
        try {
            if (!ended && hasThread()) {
                enqueue(peer, task);
                return;
            }
        } finally {
            lock.unlock();
        }
        while (runGuarded(task)) {
            // all slices
        }
    }

    /** Whether so few tasks of a peer wait that more may be submitted. */
    public boolean hasCapacity(int peer) {
        lock.lock();
        try {
            ArrayDeque<Task> queue = queues.get(peer);
            return queue == null || queue.size() < WAITING_LIMIT;
        } finally {
            lock.unlock();
        }
    }

    /** Number of threads; any thread, for tests. */
    int threads() {
        lock.lock();
        try {
            return threads.size();
        } finally {
            lock.unlock();
        }
    }

    /** Whether all submitted tasks are done; any thread, for tests. */
    public boolean isIdle() {
        lock.lock();
        try {
            return queues.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all work is done and ends the threads.
     *
     * @return false after the timeout; daemon threads still do the remaining work
     */
    boolean end(long timeoutNanos) {
        boolean interrupted = false;
        long left = timeoutNanos;
        lock.lock();
        try {
            ending = true;
            changed.signalAll();
            while (!threads.isEmpty() && left > 0) {
                try {
                    left = changed.awaitNanos(left);
                } catch (InterruptedException e) {
                    interrupted = true; // the wait is bounded and needed; the flag is restored
                }
            }
            ended = threads.isEmpty() && queues.isEmpty();
            return ended;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the first thread runs; it has ended with the bus or after a defect. */
    private boolean hasThread() {
        if (threads.isEmpty()) {
            try {
                startThread(false);
            } catch (OutOfMemoryError e) {
                LOG.log(System.Logger.Level.WARNING, "no mapping thread: " + Reason.of(e));
                return false;
            }
        }
        return true;
    }

    private void enqueue(int peer, Task task) {
        ArrayDeque<Task> queue = queues.get(peer);
        if (queue == null) {
            queue = new ArrayDeque<>();
            queues.put(peer, queue);
            ready.add(peer);
        }
        queue.add(task);
        if (ready.size() <= idle || threads.size() >= THREADS_LIMIT) {
            changed.signalAll();
        } else {
            try {
                startThread(false);
            } catch (OutOfMemoryError e) { // the existing thread does the work later
                LOG.log(System.Logger.Level.DEBUG, "no second mapping thread: " + Reason.of(e));
            }
        }
    }

    private void startThread(boolean first) {
        Thread thread = new Thread(() -> run(first), "softdpu-mapper");
        thread.setDaemon(true);
        Origins.threadMade(thread);
        thread.start();
        threads.add(thread);
    }

    private void run(boolean first) {
        try {
            Integer peer;
            while ((peer = nextPeer(first)) != null) {
                runSliceOf(peer);
            }
        } finally {
            lock.lock();
            try {
                threads.remove(Thread.currentThread());
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** The peer whose turn it is; null when this thread ends. */
    private @Nullable Integer nextPeer(boolean first) {
        lock.lock();
        try {
            long left = IDLE_NANOS;
            while (ready.isEmpty()) {
                // A queue whose slice runs on the other thread is continued by that thread.
                if (ending || (!first && left <= 0)) {
                    threads.remove(Thread.currentThread());
                    return null;
                }
                idle++;
                try {
                    if (first) {
                        changed.await();
                    } else {
                        left = changed.awaitNanos(left);
                    }
                } catch (InterruptedException e) {
                    left = 0; // no part of this package interrupts it; the next task restarts it
                } finally {
                    idle--;
                }
            }
            return ready.poll();
        } finally {
            lock.unlock();
        }
    }

    private void runSliceOf(int peer) {
        Task task;
        lock.lock();
        try {
            task = queueOf(peer).element();
        } finally {
            lock.unlock();
        }
        boolean more = runGuarded(task);
        lock.lock();
        try {
            ArrayDeque<Task> queue = queueOf(peer);
            Task done = queue.remove();
            if (more) {
                queue.add(done);
            }
            if (queue.isEmpty()) {
                queues.remove(peer);
            } else {
                ready.add(peer);
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private ArrayDeque<Task> queueOf(int peer) {
        ArrayDeque<Task> queue = queues.get(peer);
        if (queue == null) {
            throw new IllegalStateException("a queue exists while its slice runs: peer=" + peer);
        }
        return queue;
    }

    private static boolean runGuarded(Task task) {
        try {
            return task.runSlice();
        } catch (RuntimeException | Error e) { // a defect must not end the thread of all others
            LOG.log(System.Logger.Level.ERROR, "mapping work failed: " + Reason.of(e), e);
            return false;
        }
    }
}
