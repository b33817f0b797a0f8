package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.process.LineReader;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.child.ErrorLine;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One process of a demo: its output becomes events, and its standard input closes when its parent
 * ends.
 *
 * <p>Two daemon threads per process read the output; the events are delivered on them, the last one
 * ({@link Event.Exited}) after all lines.
 */
final class ChildProcess {
    /** A child has cut foreign text itself; what is long in its lines are the paths of its user. */
    private static final int MAX_LINE_CHARACTERS = 4096;

    /** More than a hex dump has; what a process says beyond that only fills memory. */
    private static final int KEPT_ERROR_LINES = 40;

    private static final int KEPT_LOG_LINES = 5;

    /** Event of a process. */
    sealed interface Event {
        /** The process. */
        ChildProcess child();

        /** A line on standard output. */
        record Line(ChildProcess child, String text) implements Event {}

        /** A log line on standard error. */
        record Log(ChildProcess child, String text) implements Event {}

        /** End of the process. */
        record Exited(ChildProcess child, int exitCode) implements Event {}
    }

    private final String name;
    private final Path report;
    private final Process process;
    private final Consumer<Event> events;
    private final List<String> errorLines = new ArrayList<>();
    private final Deque<String> logLines = new ArrayDeque<>();
    private volatile boolean killed;

    private ChildProcess(String name, Path report, Process process, Consumer<Event> events) {
        this.name = name;
        this.report = report;
        this.process = process;
        this.events = events;
    }

    /**
     * Starts a process.
     *
     * @param name how it is called in messages
     * @param command all of its command line
     * @param environment an environment variable and its value
     * @param report where it leaves its report
     * @param events gets each event, on one of two threads
     * @throws DpuException OPERATING_SYSTEM
     */
    static ChildProcess start(
            String name,
            List<String> command,
            List<String> environment,
            Path report,
            Consumer<Event> events) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put(environment.get(0), environment.get(1));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "process cannot be started: process=" + name + ", reason=" + Reason.of(e),
                    e);
        }
        ChildProcess child = new ChildProcess(name, report, process, events);
        Thread errors = child.reader("-err", child::readErrors);
        child.reader("-out", () -> child.readLinesAndAwaitEnd(errors));
        return child;
    }

    String name() {
        return name;
    }

    Path report() {
        return report;
    }

    /** True if it had to be killed by {@link #kill}. */
    boolean killed() {
        return killed;
    }

    /** Asks what it has used; the answer is a line of its output. */
    void askForUse() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            // It has ended or is about to; it prints its use unasked then.
        }
    }

    /** Asks it to end, as the end of this process would: by the end of its standard input. */
    void end() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // All that was written has been flushed: the stream is closed all the same.
        }
    }

    /** Ends it the hard way, if it is still there. */
    void kill() {
        if (process.isAlive()) {
            killed = true;
            process.destroyForcibly();
        }
    }

    /** Waits for its end; false if that took too long. */
    boolean awaitEnd(long nanos) throws InterruptedException {
        return process.waitFor(nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * What it said about its failure: its error line and what followed, else the last things that
     * it logged. Complete once it has exited.
     */
    List<String> complaint() {
        synchronized (errorLines) {
            return errorLines.isEmpty() ? List.copyOf(logLines) : List.copyOf(errorLines);
        }
    }

    private Thread reader(String suffix, Runnable body) {
        Thread thread = new Thread(body, "softdpu-demo-" + name + suffix);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void readErrors() {
        readAll(process.errorReader(), this::takeErrorLine);
    }

    private void takeErrorLine(String written) {
        String line = ForeignText.escapeAndCut(written, MAX_LINE_CHARACTERS);
        synchronized (errorLines) {
            if (ErrorLine.isError(line) || !errorLines.isEmpty()) {
                if (errorLines.size() < KEPT_ERROR_LINES) {
                    errorLines.add(line);
                }
                return;
            }
            logLines.addLast(line);
            if (logLines.size() > KEPT_LOG_LINES) {
                logLines.removeFirst();
            }
        }
        events.accept(new Event.Log(this, line));
    }

    private void readLinesAndAwaitEnd(Thread errors) {
        readAll(process.inputReader(), line -> events.accept(new Event.Line(this, line)));
        try {
            errors.join();
            events.accept(new Event.Exited(this, process.waitFor()));
        } catch (InterruptedException e) {
            // An interrupt is not expected; the process counts as lost then.
            Thread.currentThread().interrupt();
            kill();
        }
    }

    private static void readAll(Reader from, Consumer<String> lines) {
        try (LineReader reader = new LineReader(from, MAX_LINE_CHARACTERS)) {
            for (String line = reader.next(); line != null; line = reader.next()) {
                lines.accept(line);
            }
        } catch (IOException e) {
            // The pipe of a process that is being destroyed; its exit code has the reason.
        }
    }
}
