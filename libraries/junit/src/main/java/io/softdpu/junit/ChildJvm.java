package io.softdpu.junit;

import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Process that a test has started with {@link SoftDpu#start} or {@link SoftDpu#startMain}, with its
 * output. It ends with the test at the latest, and with the test's JVM, by whatever that ends.
 *
 * <p>Of each stream the last 10,000 lines are kept, as far as they have no more than 4 Mi
 * characters; of a line the first 4096 characters, with a mark that says how many are missing.
 * Waiting methods fail with the last lines. Any thread.
 */
public final class ChildJvm {
    private static final Duration END_DEADLINE = Duration.ofSeconds(20);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MAX_DESCRIBED_LINES = 100;

    private final Process process;
    private final String mainClass;
    private final Output output;
    private final Output errors;

    /** Whether the test knows how it has ended, or has ended it. */
    private volatile boolean endKnown;

    ChildJvm(Process process, String mainClass) {
        this.process = process;
        this.mainClass = mainClass;
        this.output = new Output(process.getInputStream(), "output-" + process.pid());
        this.errors = new Output(process.getErrorStream(), "errors-" + process.pid());
    }

    /** The process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended; a frozen process is alive. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Lines of standard output so far; the last ones, if there are many. */
    public List<String> outputLines() {
        return output.lines();
    }

    /** Lines of standard error so far; the last ones, if there are many. */
    public List<String> errorLines() {
        return errors.lines();
    }

    /**
     * Waits for a line of standard output. A later call continues after this line, and finds only
     * lines that are kept.
     *
     * @param regex found somewhere in the line
     * @param timeout how long to wait
     * @return the line
     * @throws AssertionError when the time is over, or at once when the process has ended without
     *     such a line
     */
    public String awaitLine(String regex, Duration timeout) {
        String line = output.awaitNext(Pattern.compile(regex).asPredicate(), timeout);
        if (line != null) {
            return line;
        }
        if (output.hasEnded()) {
            // It has, or is about to, unless it has closed its output alone.
            throw failure(
                    hasEnded(END_DEADLINE)
                            ? Text.format(
                                    "process ended before the line came: regex=%s, exitCode=%d",
                                    regex, process.exitValue())
                            : "output ended before the line came: regex=" + regex);
        }
        throw failure(
                Text.format(
                        "line has not come: regex=%s, timeout=%s, linesNotKept=%d",
                        regex, timeout, output.dropped()));
    }

    private boolean hasEnded(Duration within) {
        try {
            return process.waitFor(within);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while waiting for the end of a process");
        }
    }

    /**
     * Writes a line to standard input.
     *
     * @throws UncheckedIOException if the process has closed it, as by its end
     */
    public void send(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException("line not sent: " + description(), e);
        }
    }

    /**
     * Waits for its end, and for the end of its output.
     *
     * @return the exit code; 128 + n after signal n
     * @throws AssertionError when it still runs after this time
     */
    public int awaitExit(Duration timeout) {
        if (!hasEnded(timeout)) {
            throw failure("process has not ended: timeout=" + timeout);
        }
        output.awaitEnd(END_DEADLINE);
        errors.awaitEnd(END_DEADLINE);
        endKnown = true;
        return process.exitValue();
    }

    /** Kills it by SIGKILL, so that no code of it runs any more, and waits for its end. */
    public void kill() {
        endKnown = true;
        destroy();
        awaitExit(END_DEADLINE);
    }

    /** Stops all its threads by SIGSTOP, and returns when they have stopped. */
    public void freeze() {
        signal("STOP");
        long start = System.nanoTime();
        while (!hasStopped()) {
            if (System.nanoTime() - start > END_DEADLINE.toNanos()) {
                throw failure("process has not stopped: timeout=" + END_DEADLINE);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw failure("interrupted while waiting for the stop of a process");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Continues a frozen process, by SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    /** Sends SIGKILL, also to processes that it has started. */
    void destroy() {
        List<ProcessHandle> descendants = process.descendants().toList();
        process.destroyForcibly();
        descendants.forEach(ProcessHandle::destroyForcibly);
    }

    /**
     * Kills it if it runs, and releases its streams.
     *
     * @return a failure of the process that the test does not know of; empty if there is none
     */
    String end() {
        boolean endedItself = !process.isAlive();
        boolean known = endKnown;
        if (!endedItself) {
            destroy();
        }
        int exitCode = awaitExit(END_DEADLINE);
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            errors.add("(standard input not closed: " + Reason.of(e) + ")");
        }
        return endedItself && !known && exitCode != 0
                ? Text.format("process has failed: exitCode=%d, %s", exitCode, description())
                : "";
    }

    private boolean hasStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
            return threads.allMatch(thread -> {
                String stat = text(thread.resolve("stat"));
                // The name is in parentheses and may have any character.
                return stat.isEmpty() || stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
            });
        } catch (IOException e) {
            throw new UncheckedIOException("state of a process not read: pid=" + pid(), e);
        }
    }

    /** Empty if the thread has ended. */
    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void signal(String name) {
        if (!process.isAlive()) {
            throw failure("process has ended, no signal reaches it: signal=" + name);
        }
        try {
            // The kill of the shell: a small machine has no other.
            Process kill =
                    new ProcessBuilder("/bin/sh", "-c", "kill -s \"$0\" \"$1\"", name, "" + pid())
                            .inheritIO()
                            .start();
            int exitCode = kill.waitFor();
            if (exitCode != 0) {
                throw failure(
                        Text.format("signal not sent: signal=%s, exitCode=%d", name, exitCode));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("signal not sent: signal=" + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while sending a signal: signal=" + name);
        }
    }

    private AssertionError failure(String reason) {
        return new AssertionError(reason + ", " + description());
    }

    /** The process and its last lines. */
    String description() {
        return Text.format(
                "process=%d, mainClass=%s, alive=%s\n    output:%s\n    errors:%s",
                pid(), mainClass, process.isAlive(), last(output.lines()), last(errors.lines()));
    }

    private static String last(List<String> lines) {
        List<String> last =
                lines.subList(Math.max(0, lines.size() - MAX_DESCRIBED_LINES), lines.size());
        return last.isEmpty() ? " none" : "\n      " + String.join("\n      ", last);
    }

    /** The process id and the main class. */
    @Override
    public String toString() {
        return Text.format("process=%d, mainClass=%s", pid(), mainClass);
    }
}
