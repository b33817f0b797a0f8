package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The processes that one test has started. A test takes it as a parameter; at the end of the test,
 * passed or failed, all of them and their descendants are killed, also when the JVM of the test
 * gets a signal. Any thread.
 */
public final class Processes implements AutoCloseable {

    private final List<ChildProcess> started = Collections.synchronizedList(new ArrayList<>());
    private final Thread atExit = new Thread(this::killAll, "testkit-kill-processes");

    /** For use without JUnit's parameters; close it. */
    public Processes() {
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * Starts a JVM.
     *
     * @param command how
     * @return the running process
     */
    public ChildProcess start(JavaCommand command) {
        return start(command.toProcessBuilder());
    }

    /**
     * Starts any program. Its standard streams are captured. It counts in what a test leaves behind
     * from the return on.
     *
     * @param command how; redirections of it are dropped
     * @return the running process
     */
    public ChildProcess start(ProcessBuilder command) {
        try {
            command.redirectInput(ProcessBuilder.Redirect.PIPE);
            command.redirectOutput(ProcessBuilder.Redirect.PIPE);
            command.redirectError(ProcessBuilder.Redirect.PIPE);
            Process made = command.start();
            ChildProcess process = new ChildProcess(made, command.command());
            started.add(process);
            // One that a class keeps is not left behind by its next test, which may begin at once.
            Await.until(
                    "child is seen",
                    () -> ResourceSnapshot.sees(made.toHandle()) || !made.isAlive());
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException("not started: command=" + command.command(), e);
        }
    }

    /** Kills what still runs, and waits until it is gone. */
    @Override
    public void close() {
        for (ChildProcess process : List.copyOf(started)) {
            process.close();
        }
        started.clear();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void killAll() {
        for (ChildProcess process : List.copyOf(started)) {
            process.kill();
        }
    }
}
