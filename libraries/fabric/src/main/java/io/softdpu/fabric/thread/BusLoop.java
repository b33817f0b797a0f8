package io.softdpu.fabric.thread;

import io.softdpu.fabric.engine.WaitPermission;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Origins;
import io.softdpu.linux.RestrictedThreads;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.text.Reason;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Event loop of the bus thread: handlers of descriptors and deadlines on one {@link Poller}, and
 * commands from other threads. It does not depend on frames or regions.
 *
 * <p>Everything but {@link #execute} and {@link #shutdown} happens on the bus thread.
 */
public final class BusLoop {
    private static final System.Logger LOG = System.getLogger(BusLoop.class.getName());

    /** Handler of a descriptor, a deadline, or both. */
    public interface Handler {
        /** The descriptor is ready; events as of {@link Poller}. */
        void onEvents(int events);

        /** The deadline has passed, and is not set any more. */
        default void onDeadline() {}

        /** The bus closes: release all resources. */
        void onShutdown();
    }

    private final Poller poller = new Poller();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();

    /** In the order in which they joined, as they are shut down. */
    private final Set<BusWatch> watches = new LinkedHashSet<>();

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

    /** Releases the resources of a loop whose thread could not be started. */
    void abandon() {
        end();
    }

    @SuppressWarnings("ReferenceEquality") // the thread itself is meant
    boolean onBusThread() {
        return Thread.currentThread() == thread;
    }

    /**
     * Runs a command on the bus thread as soon as possible; after the end of the bus, on the
     * calling thread.
     */
    public void execute(Runnable command) {
        commands.add(Origins.isRecorded() ? onBehalf(Origins.asking(), command) : command);
        if (ended) {
            synchronized (commands) { // replaces the bus thread, which serialised them
                runCommands();
            }
        } else {
            poller.wake();
        }
    }

    /** Attributes resources that the command opens to the stack trace of its caller. */
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

    /** Adds a handler without a descriptor or deadline. */
    public BusWatch join(Handler handler) {
        BusWatch watch = new BusWatch(this, poller, handler);
        watches.add(watch);
        return watch;
    }

    /**
     * Adds a handler of a descriptor.
     *
     * @throws LinuxException if the limit of epoll watches of this user is reached: nothing was
     *     added
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

    /** Removes a watch that ends. */
    void left(BusWatch watch) {
        watches.remove(watch);
    }

    /** Number of handlers; any thread, for tests. */
    public int watched() {
        return watches.size();
    }

    /** The epoll of the bus thread, for tests. */
    public int epollDescriptor() {
        return poller.fd();
    }

    private void run() {
        var _ = RestrictedThreads.enter(RestrictedThreads.Scope.BUS);
        WaitPermission.deny(() -> true);
        try {
            while (!stopping) {
                poller.poll(-1);
                runCommands();
            }
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "bus thread ends: " + Reason.of(e), e);
        } finally {
            end();
        }
    }

    private void runCommands() {
        Runnable command;
        while ((command = commands.poll()) != null) {
            try {
                command.run();
            } catch (RuntimeException | Error e) { // must not end the thread that serves all others
                LOG.log(System.Logger.Level.ERROR, "bus command failed: " + Reason.of(e), e);
            }
        }
    }

    /** Whether the loop is shutting down. Any thread. */
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
}
