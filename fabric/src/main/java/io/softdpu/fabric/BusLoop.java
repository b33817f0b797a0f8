package io.softdpu.fabric;

import io.softdpu.linux.Epoll;
import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Origins;
import io.softdpu.linux.RestrictedThreads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The bus thread: one epoll, handlers by key, deadlines, and commands from other threads. It knows
 * nothing of frames or regions.
 *
 * <p>Everything but {@link #execute} and {@link #shutdown} happens on the bus thread.
 */
final class BusLoop {
    private static final System.Logger LOG = System.getLogger(BusLoop.class.getName());
    private static final int EVENTS_AT_ONCE = 64;
    private static final long WAKE_KEY = 0;

    /** Something that waits for a descriptor, a deadline, or both. */
    interface Handler {
        /** The descriptor is ready; events as of epoll. */
        void onEvents(int events);

        /** When {@link #onDeadline} is due, in nanoTime; {@link Long#MAX_VALUE} for never. */
        default long deadlineNanos() {
            return Long.MAX_VALUE;
        }

        /** The deadline has passed. */
        default void onDeadline() {}

        /** The bus closes: give up whatever is held. */
        void onShutdown();
    }

    private final Epoll epoll = new Epoll(EVENTS_AT_ONCE);
    private final int wakeDescriptor;
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Map<Long, Handler> handlers = new HashMap<>();

    /** Who asked for a handler; empty unless origins are recorded. */
    private final Map<Long, Throwable> origins = new HashMap<>();

    private final Thread thread;
    private long lastKey = WAKE_KEY;
    private boolean stopping;
    private volatile boolean ending;
    private volatile boolean ended;

    BusLoop() {
        int descriptor = -1;
        try {
            descriptor = EventFd.create();
            epoll.add(descriptor, Epoll.IN, WAKE_KEY);
        } catch (RuntimeException e) {
            if (descriptor >= 0) {
                FileDescriptors.close(descriptor);
            }
            epoll.close();
            throw e;
        }
        wakeDescriptor = descriptor;
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
    void execute(Runnable command) {
        commands.add(Origins.RECORDED ? onBehalf(Origins.asking(), command) : command);
        if (ended) {
            synchronized (commands) { // in place of the one thread that there was
                runCommands();
            }
        } else {
            signal();
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

    /** Watches a descriptor; returns the key for {@link #remove}. */
    long add(int descriptor, int events, Handler handler) {
        long key = ++lastKey;
        epoll.add(descriptor, events, key);
        handlers.put(key, handler);
        if (Origins.RECORDED) {
            origins.put(key, Objects.requireNonNull(Origins.asking()));
        }
        return key;
    }

    /** Watches a deadline only. */
    long addTimer(Handler handler) {
        long key = ++lastKey;
        handlers.put(key, handler);
        return key;
    }

    /**
     * Runs the work once on the bus thread, not before the deadline; never if the loop ends first.
     * Any thread.
     */
    Bus.Alarm schedule(long deadlineNanos, Runnable work) {
        Alarm alarm = new Alarm(deadlineNanos, work);
        execute(alarm::begin);
        return alarm;
    }

    /** How much is watched now, deadlines included; a look from any thread, for tests. */
    int watched() {
        return handlers.size();
    }

    /** The epoll of the bus thread, for tests. */
    int epollDescriptor() {
        return epoll.fd();
    }

    /** Stops watching; the descriptor stays open. Pass -1 for a timer. */
    void remove(long key, int descriptor) {
        if (Origins.RECORDED) {
            origins.remove(key);
        }
        if (handlers.remove(key) != null && descriptor >= 0) {
            epoll.remove(descriptor);
        }
    }

    private void run() {
        var _ = RestrictedThreads.enter(RestrictedThreads.Scope.BUS);
        try {
            while (!stopping) {
                int count = epoll.await(timeoutMillis());
                for (int i = 0; i < count; i++) {
                    dispatch(epoll.data(i), epoll.events(i));
                }
                runCommands();
                runDeadlines();
            }
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "bus thread ends: " + e, e);
        } finally {
            end();
        }
    }

    private void dispatch(long key, int events) {
        if (key == WAKE_KEY) {
            EventFd.drain(wakeDescriptor);
            return;
        }
        Handler handler = handlers.get(key);
        if (handler != null) {
            Runnable work = () -> handler.onEvents(events);
            guarded(Origins.RECORDED ? onBehalf(origins.get(key), work) : work);
        }
    }

    private void runCommands() {
        Runnable command;
        while ((command = commands.poll()) != null) {
            guarded(command);
        }
    }

    private int timeoutMillis() {
        long nearest = Long.MAX_VALUE;
        long now = System.nanoTime();
        for (Handler handler : handlers.values()) {
            long deadline = handler.deadlineNanos();
            if (deadline != Long.MAX_VALUE) {
                nearest = Math.min(nearest, Math.max(0, deadline - now));
            }
        }
        return nearest == Long.MAX_VALUE
                ? -1
                : (int) Math.min(Integer.MAX_VALUE, (nearest + 999_999) / 1_000_000);
    }

    private void runDeadlines() {
        long now = System.nanoTime();
        List<Handler> due = new ArrayList<>();
        for (Handler handler : handlers.values()) {
            long deadline = handler.deadlineNanos();
            if (deadline != Long.MAX_VALUE && deadline - now <= 0) {
                due.add(handler);
            }
        }
        due.forEach(handler -> guarded(handler::onDeadline));
    }

    /** One connection's failure must not end the thread that serves all others. */
    private static void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "bus handler failed: " + e, e);
        }
    }

    /** Whether the thread takes everything down. Any thread. */
    boolean ending() {
        return ending;
    }

    private void end() {
        ending = true;
        List<Handler> left = List.copyOf(handlers.values());
        handlers.clear();
        left.forEach(handler -> guarded(handler::onShutdown));
        synchronized (this) {
            ended = true;
            epoll.close();
            FileDescriptors.close(wakeDescriptor);
        }
        synchronized (commands) {
            runCommands();
        }
    }

    private synchronized void signal() {
        if (!ended) {
            EventFd.signal(wakeDescriptor);
        }
    }

    /** Watches a link until its peer goes or it is disposed of. */
    void watch(Link link) {
        LinkWatch watch = new LinkWatch(link);
        watch.key = add(link.descriptor(), Epoll.RDHUP | Epoll.HUP | Epoll.ET, watch);
        link.watchKey(watch.key);
    }

    /** A deadline that somebody above waits for; its states change on the bus thread. */
    private final class Alarm implements Handler, Bus.Alarm {
        private final long deadlineNanos;
        private volatile @Nullable Runnable work;
        private long key = -1;

        private Alarm(long deadlineNanos, Runnable work) {
            this.deadlineNanos = deadlineNanos;
            this.work = work;
        }

        private void begin() {
            if (work != null && !ended) {
                key = addTimer(this);
            }
        }

        @Override
        public void cancel() {
            if (work != null) {
                work = null; // what it holds can go at once
                execute(() -> remove(key, -1));
            }
        }

        @Override
        public void onEvents(int events) {
            throw new IllegalStateException("an alarm has no descriptor");
        }

        @Override
        public long deadlineNanos() {
            return deadlineNanos;
        }

        @Override
        public void onDeadline() {
            Runnable due = work;
            work = null;
            remove(key, -1);
            if (due != null) {
                due.run();
            }
        }

        @Override
        public void onShutdown() {}
    }

    /** The handler of a link: it only waits for the peer's end. */
    private final class LinkWatch implements Handler {
        private final Link link;
        private long key;

        private LinkWatch(Link link) {
            this.link = link;
        }

        @Override
        public void onEvents(int events) {
            if ((events & (Epoll.RDHUP | Epoll.HUP | Epoll.ERR)) != 0) {
                remove(key, link.descriptor());
                link.hungUp();
            }
        }

        @Override
        public void onShutdown() {
            link.hungUp();
        }
    }
}
