package io.softdpu.fabric.thread;

import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.RestrictedThreads;
import io.softdpu.linux.Socket;
import io.softdpu.linux.text.Reason;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Closes peer-supplied file descriptors on background threads: refused descriptors, and sockets
 * that may still contain some. close(2) on them may block: for the linger time of a TCP socket, and
 * without limit for a file of a file system that the peer serves. The daemon threads are started on
 * demand and exit when idle.
 *
 * <p>Bounded: {@link #THREADS_LIMIT} closes run at a time; if {@link #WAITING_LIMIT} more wait
 * {@link #hasCapacity} is false, and no new client is accepted. No descriptor is lost, and each
 * client accepted before adds only a few. Any thread.
 */
public final class DescriptorCloser {
    /** Limit of threads: closes that may block before others wait for them. */
    public static final int THREADS_LIMIT = 8;

    /** Waiting closes from which on no new client is accepted. */
    public static final int WAITING_LIMIT = 512;

    /** Time after which an idle thread exits; starting another takes a tenth of a millisecond. */
    private static final long IDLE_NANOS = 100_000_000L;

    /** Time after which a thread counts as blocked by a descriptor that cannot be disarmed. */
    private static final long DISARMING_NANOS = 100_000_000L;

    /** More empty messages than a socket's queue can hold: the next is its end. */
    private static final int EMPTY_MESSAGES_LIMIT = 16;

    private static final System.Logger LOG = System.getLogger(DescriptorCloser.class.getName());

    /** A descriptor and its kind. */
    private record Item(int descriptor, Kind kind) {}

    private enum Kind {
        /** Any descriptor sent by a peer. */
        REFUSED,
        /** Socket connected to a peer. */
        SOCKET,
        /** Listening socket, with clients that were not accepted. */
        LISTENER
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Item> waiting = new ArrayDeque<>();
    private final Set<Thread> threads = new HashSet<>();

    /**
     * Limits receiving of descriptors for disarming to one thread, so that they do not exhaust the
     * limit of open files.
     */
    private final ReentrantLock disarming = new ReentrantLock();

    private int idle;
    private boolean ending;

    /** Closes a descriptor that a peer has sent and that is not used. */
    public void closeRefused(int descriptor) {
        enqueue(new Item(descriptor, Kind.REFUSED));
    }

    /**
     * Shuts a connection down at once and closes its socket later, with all messages and
     * descriptors in it.
     *
     * @param socket watched by no epoll: it may be ready for as long as the closing threads are
     *     blocked
     */
    public void closeSocket(int socket) {
        RestrictedThreads.requireUnwatched(socket);
        Socket.shutdown(socket);
        enqueue(new Item(socket, Kind.SOCKET));
    }

    /** The same for a listening socket: clients that wait in it see the end. */
    public void closeListener(int socket) {
        RestrictedThreads.requireUnwatched(socket);
        Socket.shutdown(socket);
        enqueue(new Item(socket, Kind.LISTENER));
    }

    /** Whether so few closes wait that a new client may be accepted. */
    public boolean hasCapacity() {
        lock.lock();
        try {
            return waiting.size() < WAITING_LIMIT;
        } finally {
            lock.unlock();
        }
    }

    /** Whether all descriptors handed over are closed; any thread, for tests. */
    public boolean isIdle() {
        lock.lock();
        try {
            return waiting.isEmpty() && idle == threads.size();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the threads after they have closed everything handed over, and waits for that.
     *
     * @return false after the timeout; blocked threads continue, and do not keep the process from
     *     ending
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
                    interrupted = true; // the wait is short and needed; the flag is restored
                }
            }
            return threads.isEmpty() && waiting.isEmpty();
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void enqueue(Item item) {
        lock.lock();
        try {
            waiting.add(item);
            if (waiting.size() <= idle || threads.size() >= THREADS_LIMIT) {
                changed.signalAll();
            } else {
                Thread thread = new Thread(this::run, "softdpu-closer");
                thread.setDaemon(true);
                try {
                    thread.start();
                    threads.add(thread);
                } catch (OutOfMemoryError e) { // no thread is left; the next item tries again
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "descriptor waits to be closed: " + Reason.of(e));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            ReceivedMessage buffer =
                    new ReceivedMessage(
                            1, DescriptorPassing.MAX_DESCRIPTORS, DescriptorCloser::disarmAndClose);
            Item item;
            while ((item = next()) != null) {
                dispose(item, buffer);
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

    /** The next descriptor; null after the idle time. */
    private @Nullable Item next() {
        lock.lock();
        try {
            long left = IDLE_NANOS;
            while (waiting.isEmpty() && !ending && left > 0) {
                idle++;
                try {
                    left = changed.awaitNanos(left);
                } catch (InterruptedException e) {
                    left = 0; // interrupts are not expected; the next item starts another thread
                } finally {
                    idle--;
                }
            }
            Item item = waiting.poll();
            if (item == null) { // under the lock, so that enqueue relies on no thread that exits
                threads.remove(Thread.currentThread());
            }
            return item;
        } finally {
            lock.unlock();
        }
    }

    private void dispose(Item item, ReceivedMessage buffer) {
        try {
            switch (item.kind()) {
                case REFUSED -> disarmAndClose(item.descriptor());
                case SOCKET -> closeEmptied(item.descriptor(), buffer);
                case LISTENER -> {
                    try {
                        int accepted;
                        while ((accepted = Socket.accept(item.descriptor())) >= 0) {
                            Socket.shutdown(accepted);
                            closeEmptied(accepted, buffer);
                        }
                    } finally {
                        FileDescriptors.close(item.descriptor());
                    }
                }
            }
        } catch (RuntimeException | Error e) { // others wait for this thread
            LOG.log(
                    System.Logger.Level.WARNING,
                    "descriptor not closed in order: " + Reason.of(e),
                    e);
        }
    }

    /** Receives and closes the descriptors in the socket, so that none lingers, then closes it. */
    private void closeEmptied(int socket, ReceivedMessage buffer) {
        try {
            if (disarming.tryLock(DISARMING_NANOS, TimeUnit.NANOSECONDS)) {
                try {
                    empty(socket, buffer);
                } finally {
                    disarming.unlock();
                }
            } // else one thread is blocked at that: the kernel closes the contents
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // interrupts are not expected; the socket is closed
        } finally {
            FileDescriptors.close(socket);
        }
    }

    private static void empty(int socket, ReceivedMessage buffer) {
        int emptyMessages = 0;
        while (emptyMessages < EMPTY_MESSAGES_LIMIT) {
            int received = DescriptorPassing.receive(socket, buffer);
            buffer.close();
            if (received < 0) {
                return;
            }
            emptyMessages = received == 0 ? emptyMessages + 1 : 0;
        }
    }

    /** Switches lingering off, which most descriptors that block need, then closes. */
    private static void disarmAndClose(int descriptor) {
        boolean _ = Socket.stopLingering(descriptor);
        try {
            FileDescriptors.close(descriptor);
        } catch (LinuxException e) { // it is closed; its file system reported an error
            LOG.log(System.Logger.Level.DEBUG, "descriptor of a peer: " + Reason.of(e));
        }
    }
}
