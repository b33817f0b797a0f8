package io.softdpu.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Record of the processes that this JVM has started, by whatever class: the JDK logs each start by
 * ProcessBuilder or Runtime.exec, on the thread that called it. Any thread.
 */
final class ProcessStarts {

    /** Held here, since a logger that is unreachable loses its handlers. */
    private static final Logger LOGGER = Logger.getLogger("java.lang.ProcessBuilder");

    private static final List<Throwable> STARTS = new ArrayList<>();

    static {
        LOGGER.setUseParentHandlers(false);
        LOGGER.setLevel(Level.FINE);
        LOGGER.addHandler(new Recorder());
    }

    private ProcessStarts() {}

    /** Number of starts that {@link #takeSince} has not taken. */
    static int count() {
        synchronized (STARTS) {
            return STARTS.size();
        }
    }

    /**
     * Removes the starts since a count.
     *
     * @return one Throwable per start, whose stack is that of the call
     */
    static List<Throwable> takeSince(int count) {
        synchronized (STARTS) {
            List<Throwable> since = STARTS.subList(Math.min(count, STARTS.size()), STARTS.size());
            List<Throwable> taken = List.copyOf(since);
            since.clear();
            return taken;
        }
    }

    private static final class Recorder extends Handler {

        @Override
        public void publish(LogRecord record) {
            synchronized (STARTS) {
                STARTS.add(new Throwable(record.getMessage()));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
