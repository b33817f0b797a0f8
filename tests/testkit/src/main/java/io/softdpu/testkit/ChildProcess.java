package io.softdpu.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A running process, its output so far, and the signals that a test sends it. Any thread.
 *
 * <p>Waiting methods fail at the deadline of {@link Patience}, with all that the process has
 * printed.
 */
public final class ChildProcess implements AutoCloseable {

    private final Process process;
    private final List<String> command;
    private final Output output;
    private final Output errors;

    ChildProcess(Process process, List<String> command) {
        this.process = process;
        this.command = List.copyOf(command);
        this.output = new Output(process.getInputStream(), "output-" + process.pid());
        this.errors = new Output(process.getErrorStream(), "errors-" + process.pid());
    }

    /**
     * Its process id, which no other process gets before {@link #awaitExit} or {@link #close()}.
     *
     * @return the pid
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Whether it has not ended; a stopped process is alive.
     *
     * @return true until the end
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * What /proc says about it.
     *
     * @return a view that is read anew by each of its methods
     */
    public ProcessView view() {
        return ProcessView.of(pid());
    }

    /**
     * Its standard input.
     *
     * @return a stream; closing it is the end of input for the process
     */
    public OutputStream standardInput() {
        return process.getOutputStream();
    }

    /**
     * What it has printed so far.
     *
     * @return whole lines of standard output
     */
    public List<String> outputLines() {
        return output.lines();
    }

    /**
     * What it has printed to standard error so far.
     *
     * @return whole lines of standard error
     */
    public List<String> errorLines() {
        return errors.lines();
    }

    /**
     * Waits for a line of standard output, which may have come already.
     *
     * @param regex found somewhere in the line
     * @return the first such line
     * @throws AssertionError when the deadline passes or the output ends without such a line
     */
    public String awaitLine(String regex) {
        return await(output, regex, Patience.DEADLINE);
    }

    /** As {@link #awaitLine(String)}, with a deadline of its own. */
    String awaitLine(String regex, Duration deadline) {
        return await(output, regex, deadline);
    }

    /**
     * Waits for a line of standard error, which may have come already.
     *
     * @param regex found somewhere in the line
     * @return the first such line
     * @throws AssertionError when the deadline passes or the output ends without such a line
     */
    public String awaitErrorLine(String regex) {
        return await(errors, regex, Patience.DEADLINE);
    }

    private String await(Output from, String regex, Duration deadline) {
        try {
            String line = from.await(Pattern.compile(regex).asPredicate(), deadline);
            if (line == null) {
                throw failure("line did not come: regex=" + regex + ", deadline=" + deadline);
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while waiting for a line: regex=" + regex);
        }
    }

    /**
     * Waits for its end, and for the last of its output.
     *
     * @return the exit status; 128 + n after signal n
     * @throws AssertionError when it still runs then
     */
    public int awaitExit() {
        return awaitExit(Patience.DEADLINE);
    }

    /**
     * Waits for its end like {@link #awaitExit()}; each line of standard output begins the deadline
     * anew, for a process that says what it is at and may run for long.
     *
     * @return the exit status; 128 + n after signal n
     * @throws AssertionError when it has neither ended nor printed by the deadline
     */
    public int awaitExitWhileItPrints() {
        return awaitExitWhileItPrints(Patience.DEADLINE);
    }

    /** As {@link #awaitExitWhileItPrints()}, with a deadline of its own. */
    int awaitExitWhileItPrints(Duration deadline) {
        while (process.isAlive()) {
            int lines = outputLines().size();
            if (!Await.holdsWithin(
                    deadline, () -> !process.isAlive() || outputLines().size() > lines)) {
                throw failure("process neither prints nor ends: deadline=" + deadline);
            }
        }
        return awaitExit();
    }

    /** As {@link #awaitExit()}, with a deadline of its own. */
    int awaitExit(Duration deadline) {
        try {
            if (!process.waitFor(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
                throw failure("process did not end: deadline=" + deadline);
            }
            output.awaitEnd();
            errors.awaitEnd();
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while waiting for the end");
        }
    }

    /**
     * Ends it by SIGKILL: no code of it runs any more. Does not wait. What it has printed until
     * then is read: by the handle, since {@link Process#destroyForcibly} closes the streams.
     */
    public void kill() {
        List<ProcessHandle> descendants = process.descendants().toList();
        process.toHandle().destroyForcibly();
        descendants.forEach(ProcessHandle::destroyForcibly);
    }

    /** Stops all its threads by SIGSTOP, wherever they are, and returns when they stand still. */
    public void freeze() {
        signal("STOP");
        Await.until(
                "all threads stopped: pid=" + pid(),
                () -> view().threadStates().stream().allMatch(state -> state == 'T'));
    }

    /** Lets a frozen process go on, by SIGCONT. */
    public void thaw() {
        signal("CONT");
    }

    /**
     * Sends a signal. For INT, start the process with {@link JavaCommand#interruptible()}.
     *
     * @param name without SIG, such as INT or TERM
     */
    public void signal(String name) {
        if (!process.isAlive()) {
            throw failure("process has ended, so no signal reaches it: signal=" + name);
        }
        try {
            // The shell's own kill: a small machine has no other.
            Process kill =
                    new ProcessBuilder("/bin/sh", "-c", "kill -s \"$0\" \"$1\"", name, "" + pid())
                            .inheritIO()
                            .start();
            if (kill.waitFor() != 0) {
                throw failure("signal not sent: signal=" + name);
            }
        } catch (IOException e) {
            throw new AssertionError("signal not sent: signal=" + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("interrupted while sending a signal");
        }
    }

    /** Kills it and its descendants if it still runs, and waits for their end. */
    @Override
    public void close() {
        List<ProcessHandle> descendants = process.descendants().toList();
        kill();
        process.destroyForcibly(); // closes pipes, too, that processes without a parent may hold
        awaitExit();
        for (ProcessHandle descendant : descendants) {
            Await.until("descendant ended: pid=" + descendant.pid(), () -> !descendant.isAlive());
        }
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // Input that the process never read is of no use to anybody now.
            errors.add("testkit: standard input not closed cleanly: " + e);
        }
    }

    private AssertionError failure(String reason) {
        return new AssertionError(
                reason
                        + ", pid="
                        + pid()
                        + ", alive="
                        + process.isAlive()
                        + "\n  command: "
                        + String.join(" ", command)
                        + "\n  output:\n    "
                        + String.join("\n    ", output.lines())
                        + "\n  errors:\n    "
                        + String.join("\n    ", errors.lines()));
    }

    @Override
    public String toString() {
        return "process " + pid() + " " + command;
    }
}
