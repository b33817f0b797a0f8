package io.softdpu.fabric.thread;

import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.Socket;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Closes what a peer has chosen: descriptors that were refused, and sockets that may still hold
 * some. To close a descriptor takes as long as its kind allows, a TCP socket that lingers as long
 * as its owner said, a file of a file system that its owner serves for ever. So it happens here, on
 * daemon threads made for it, which come when they are needed and go when they are idle.
 *
 * <p>Bounded: {@link #THREADS_LIMIT} closes go on at a time; where {@link #WAITING_LIMIT} more wait
 * {@link #hasRoom} tells it, and nobody new is let in. What is handed over is never lost, and what
 * was let in before brings a few descriptors each. Any thread.
 */
public final class DescriptorCloser {
    /** Closes that may be stuck before others have to wait for them. */
    static final int THREADS_LIMIT = 8;

    /** What may wait before nobody new is let in. */
    public static final int WAITING_LIMIT = 512;

    /** How long an idle thread stays for the next; another is made in a tenth of a millisecond. */
    private static final long IDLE_NANOS = 100_000_000L;

    /** Who disarms for longer is stuck at a descriptor that cannot be disarmed. */
    private static final long DISARMING_NANOS = 100_000_000L;

    /** More empty messages than a socket's queue has room for: what comes then is its end. */
    private static final int EMPTY_MESSAGES_LIMIT = 16;

    private static final System.Logger LOG = System.getLogger(DescriptorCloser.class.getName());

    /** A descriptor, and what it is. */
    private record Item(int descriptor, Kind kind) {}

    private enum Kind {
        /** Anything, from a peer. */
        REFUSED,
        /** A connection to a peer. */
        SOCKET,
        /** A socket that peers connect to; in it wait those that were not accepted. */
        LISTENER
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Item> waiting = new ArrayDeque<>();
    private final Set<Thread> threads = new HashSet<>();

    /** One at a time takes descriptors in to disarm them, so that they do not fill our table. */
    private final ReentrantLock disarming = new ReentrantLock();

    private int idle;
    private boolean ending;

    /** Closes a descriptor that a peer has sent and nobody wants. */
    public void closeRefused(int descriptor) {
        enqueue(new Item(descriptor, Kind.REFUSED));
    }

    /**
     * Ends a connection at once, as the peer sees it, and closes its socket, with all that the peer
     * may have put into it.
     */
    public void closeSocket(int socket) {
        Socket.shutdown(socket);
        enqueue(new Item(socket, Kind.SOCKET));
    }

    /** The same for a socket that accepts: whoever waits in it sees the end. */
    public void closeListener(int socket) {
        Socket.shutdown(socket);
        enqueue(new Item(socket, Kind.LISTENER));
    }

    /** Whether so little waits that somebody new may be let in. */
    public boolean hasRoom() {
        lock.lock();
        try {
            return waiting.size() < WAITING_LIMIT;
        } finally {
            lock.unlock();
        }
    }

    /** Whether all that was handed over is closed; a look from any thread, for tests. */
    public boolean isIdle() {
        lock.lock();
        try {
            return waiting.isEmpty() && idle == threads.size();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets the threads end when they have closed all that was handed over, and waits for that.
     *
     * @return false if the time was up first; what is stuck goes on, and the process may end
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
                    LOG.log(System.Logger.Level.WARNING, "descriptor waits to be closed: " + e);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            ReceivedMessage room =
                    new ReceivedMessage(
                            1, DescriptorPassing.MAX_DESCRIPTORS, DescriptorCloser::disarmAndClose);
            Item item;
            while ((item = next()) != null) {
                dispose(item, room);
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

    /** The next to close; null once there was nothing for a while. */
    private @Nullable Item next() {
        lock.lock();
        try {
            long left = IDLE_NANOS;
            while (waiting.isEmpty() && !ending && left > 0) {
                idle++;
                try {
                    left = changed.awaitNanos(left);
                } catch (InterruptedException e) {
                    left = 0; // nobody has a reason to; the next item starts another thread
                } finally {
                    idle--;
                }
            }
            Item item = waiting.poll();
            if (item == null) { // nobody may take this thread for one that still looks
                threads.remove(Thread.currentThread());
            }
            return item;
        } finally {
            lock.unlock();
        }
    }

    private void dispose(Item item, ReceivedMessage room) {
        try {
            switch (item.kind()) {
                case REFUSED -> disarmAndClose(item.descriptor());
                case SOCKET -> closeEmptied(item.descriptor(), room);
                case LISTENER -> {
                    try {
                        int accepted;
                        while ((accepted = Socket.accept(item.descriptor())) >= 0) {
                            Socket.shutdown(accepted);
                            closeEmptied(accepted, room);
                        }
                    } finally {
                        FileDescriptors.close(item.descriptor());
                    }
                }
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "descriptor not closed in order: " + e, e);
        }
    }

    /** Takes out what the peer has put in, so that none of it lingers, then closes. */
    private void closeEmptied(int socket, ReceivedMessage room) {
        try {
            if (disarming.tryLock(DISARMING_NANOS, TimeUnit.NANOSECONDS)) {
                try {
                    empty(socket, room);
                } finally {
                    disarming.unlock();
                }
            } // else one is stuck at that: the kernel closes what is in
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody has a reason to; the socket is closed
        } finally {
            FileDescriptors.close(socket);
        }
    }

    private static void empty(int socket, ReceivedMessage room) {
        int emptyMessages = 0;
        while (emptyMessages < EMPTY_MESSAGES_LIMIT) {
            int received = DescriptorPassing.receive(socket, room);
            room.close();
            if (received < 0) {
                return;
            }
            emptyMessages = received == 0 ? emptyMessages + 1 : 0;
        }
    }

    /** Most that linger do so because they were told to, and can be told otherwise. */
    private static void disarmAndClose(int descriptor) {
        boolean _ = Socket.stopLingering(descriptor);
        try {
            FileDescriptors.close(descriptor);
        } catch (LinuxException e) { // closed all the same; its file system had an error to report
            LOG.log(System.Logger.Level.DEBUG, "descriptor of a peer: " + e.getMessage());
        }
    }
}
