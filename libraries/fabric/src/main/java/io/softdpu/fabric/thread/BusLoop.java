package io.softdpu.fabric.thread;

import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Origins;
import io.softdpu.linux.RestrictedThreads;
import io.softdpu.linux.event.Poller;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The bus thread: handlers of descriptors and deadlines over one {@link Poller}, and commands from
 * other threads. It knows nothing of frames or regions.
 *
 * <p>Everything but {@link #execute} and {@link #shutdown} happens on the bus thread.
 */
public final class BusLoop {
    private static final System.Logger LOG = System.getLogger(BusLoop.class.getName());

    /** Something that waits for a descriptor, a deadline, or both. */
    public interface Handler {
        /** The descriptor is ready; events as of {@link Poller}. */
        void onEvents(int events);

        /** The deadline has passed, and is not set any more. */
        default void onDeadline() {}

        /** The bus closes: give up whatever is held. */
        void onShutdown();
    }

    private final Poller poller = new Poller();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Set<BusWatch> watches = new HashSet<>();
    private final Thread thread;
    private boolean stopping;
    private volatile boolean ending;
    private volatile boolean ended;

    BusLoop() {
        thread = new Thread(this::run, "softdpu-bus");
        thread.setDaemon(true);
        Origins.threadMade(thread);
    }

    void start() {
        thread.start();
    }

    /** Gives back what a loop holds whose thread could not be started. */
    void abandon() {
        end();
    }

    @SuppressWarnings("ReferenceEquality") // the thread itself is meant
    boolean onBusThread() {
        return Thread.currentThread() == thread;
    }

    /** Runs a command on the bus thread soon; after the end of the bus, on the caller's. */
    public void execute(Runnable command) {
        commands.add(Origins.RECORDED ? onBehalf(Origins.asking(), command) : command);
        if (ended) {
            synchronized (commands) { // in place of the one thread that there was
                runCommands();
            }
        } else {
            poller.wake();
        }
    }

    /** What the bus thread makes for somebody is told by the place where that one asked. */
    private static Runnable onBehalf(@Nullable Throwable place, Runnable command) {
        return () -> {
            Origins.askedAt(place);
            try {
                command.run();
            } finally {
                Origins.askedAt(null);
            }
        };
    }

    /** Ends the loop after the commands given so far and waits for the thread. */
    void shutdown() {
        execute(() -> stopping = true);
        boolean interrupted = false;
        while (!onBusThread() && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true; // the end of the loop is near and needed; the flag is restored
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes in a handler that waits for nothing yet. */
    public BusWatch join(Handler handler) {
        BusWatch watch = new BusWatch(this, poller, handler);
        watches.add(watch);
        return watch;
    }

    /**
     * Takes in a handler that waits for a descriptor.
     *
     * @throws LinuxException if the kernel lets this user watch nothing more: nothing was taken in
     */
    public BusWatch join(Handler handler, int descriptor, int events) {
        BusWatch watch = join(handler);
        try {
            watch.listen(descriptor, events);
            return watch;
        } catch (RuntimeException e) {
            watch.end();
            throw e;
        }
    }

    /** For a watch that ends. */
    void left(BusWatch watch) {
        watches.remove(watch);
    }

    /**
     * Runs the work once on the bus thread, not before the deadline; never if the loop ends first.
     * Any thread.
     */
    public Alarm schedule(long deadlineNanos, Runnable work) {
        Alarm alarm = new Alarm(deadlineNanos, work);
        execute(alarm::begin);
        return alarm;
    }

    /** How many handlers there are now; a look from any thread, for tests. */
    public int watched() {
        return watches.size();
    }

    /** The epoll of the bus thread, for tests. */
    public int epollDescriptor() {
        return poller.fd();
    }

    private void run() {
        var _ = RestrictedThreads.enter(RestrictedThreads.Scope.BUS);
        try {
            while (!stopping) {
                poller.poll(-1);
                runCommands();
            }
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "bus thread ends: " + e, e);
        } finally {
            end();
        }
    }

    private void runCommands() {
        Runnable command;
        while ((command = commands.poll()) != null) {
            try {
                command.run();
            } catch (RuntimeException | Error e) { // which must not end the thread of all others
                LOG.log(System.Logger.Level.ERROR, "bus command failed: " + e, e);
            }
        }
    }

    /** Whether the thread takes everything down. Any thread. */
    boolean ending() {
        return ending;
    }

    private void end() {
        ending = true;
        List<BusWatch> left = List.copyOf(watches);
        watches.clear();
        left.forEach(BusWatch::shutdown);
        ended = true;
        poller.close();
        synchronized (commands) {
            runCommands();
        }
    }

    /** A deadline that somebody above waits for; its states change on the bus thread. */
    public final class Alarm implements Handler {
        private final long deadlineNanos;
        private volatile @Nullable Runnable work;
        private @Nullable BusWatch watch;

        private Alarm(long deadlineNanos, Runnable work) {
            this.deadlineNanos = deadlineNanos;
            this.work = work;
        }

        private void begin() {
            if (work != null && !ended) {
                watch = join(this);
                watch.setDeadline(deadlineNanos);
            }
        }

        /** Forgets the work, unless it has run or runs now. Any thread; again: nothing happens. */
        public void cancel() {
            if (work != null) {
                work = null; // what it holds can go at once
                execute(this::leave);
            }
        }

        private void leave() {
            if (watch != null) {
                watch.end();
            }
        }

        @Override
        public void onEvents(int events) {
            throw new IllegalStateException("an alarm has no descriptor");
        }

        @Override
        public void onDeadline() {
            Runnable due = work;
            work = null;
            leave();
            if (due != null) {
                due.run();
            }
        }

        @Override
        public void onShutdown() {}
    }
}
