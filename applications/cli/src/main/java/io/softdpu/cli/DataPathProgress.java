package io.softdpu.cli;

import io.softdpu.cli.log.StatusLine;
import io.softdpu.perf.text.Figures;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.LatencyCounts;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a role's data path: on a terminal one line that is rewritten, in a log a line per
 * interval. Rates and percentiles are those since the line before. A thread of its own reads the
 * counters of the role; {@link #begin} and {@link #close} belong to the control thread of the role.
 */
final class DataPathProgress implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.softdpu.cli.progress");

    /** A line that is longer would continue on the next, where it could not be cleared. */
    private static final int MAX_LINE_CHARACTERS = 79;

    private final Supplier<SessionReport> report;
    private final @Nullable Supplier<LatencyCounts> latencies;
    private final Duration interval;
    private final @Nullable PrintStream terminal;
    private @Nullable Display display;

    /**
     * A progress that has not begun.
     *
     * @param report the counters of the role; called on another thread
     * @param latencies of all operations; null for a role that measures none
     * @param interval between two lines, more than zero
     * @param terminal where one line is rewritten; null to log a line
     */
    DataPathProgress(
            Supplier<SessionReport> report,
            @Nullable Supplier<LatencyCounts> latencies,
            Duration interval,
            @Nullable PrintStream terminal) {
        this.report = report;
        this.latencies = latencies;
        this.interval = interval;
        this.terminal = terminal;
    }

    /** Begins to print, after the first interval. */
    void begin() {
        display = new Display();
    }

    /** Ends, and removes the line from the terminal. Idempotent. */
    @Override
    public void close() {
        Display present = display;
        display = null;
        if (present != null) {
            present.end();
        }
    }

    /** State of the role at the time of a line. */
    private record Snapshot(long nanos, SessionReport session, @Nullable LatencyCounts latencies) {}

    private Snapshot snapshot() {
        return new Snapshot(
                System.nanoTime(), report.get(), latencies == null ? null : latencies.get());
    }

    private final class Display {
        private final CountDownLatch ended = new CountDownLatch(1);
        private final Snapshot begin = snapshot();
        private final Thread thread;

        Display() {
            thread = new Thread(this::print, "softdpu-progress");
            thread.setDaemon(true);
            thread.start();
        }

        private void print() {
            Snapshot before = begin;
            try {
                while (!ended.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
                    Snapshot now = snapshot();
                    String line = line(begin.nanos(), before, now);
                    if (terminal == null) {
                        LOG.log(System.Logger.Level.INFO, line);
                    } else {
                        StatusLine.standardError()
                                .show(
                                        terminal,
                                        line.substring(
                                                0, Math.min(line.length(), MAX_LINE_CHARACTERS)));
                    }
                    before = now;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // not expected; the line stays as it is
            }
        }

        void end() {
            ended.countDown();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (terminal != null) {
                StatusLine.standardError().clear(terminal);
            }
        }
    }

    private String line(long beginNanos, Snapshot before, Snapshot now) {
        double seconds = (now.nanos() - before.nanos()) / 1e9;
        SessionReport session = now.session();
        List<String> figures = new ArrayList<>();
        figures.add(Figures.count(session.operations()) + " ops");
        figures.add(
                Figures.perSecond(
                        (session.operations() - before.session().operations()) / seconds));
        if (session.looksAtMessages()) {
            double bytes = session.payloadBytes() - before.session().payloadBytes();
            figures.add(Figures.gigabytesPerSecond(bytes / seconds / 1e9));
            figures.add(session.errors() + " failed");
        }
        LatencyCounts latencies = now.latencies();
        LatencyCounts earlier = before.latencies();
        if (latencies != null && earlier != null) {
            LatencyCounts since = latencies.since(earlier);
            if (since.count() > 0) {
                figures.add("p50 " + Figures.time(since.percentile(50).toNanos()));
                figures.add("p99 " + Figures.time(since.percentile(99).toNanos()));
            }
        }
        // On a terminal without commas: with them a usual line is too long.
        return Figures.seconds(now.nanos() - beginNanos)
                + ": "
                + String.join(terminal == null ? ", " : " ", figures);
    }
}
