package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import java.io.IOException;
import java.util.List;

/** A sample that runs, on a thread of this JVM or as a process, and what it has said so far. */
interface RunningSample {
    /** Waits for a line of output, which may have come already, and returns the first such line. */
    String awaitLine(String regex);

    /** Whole lines of output. */
    List<String> outputLines();

    /** Lines of its failure; empty after success. */
    List<String> errorLines();

    /** Whether it still runs. */
    boolean isAlive();

    /**
     * Waits for its end: 0, 1 after a failure, 3 where the data was wrong. What has failed has to
     * release all that it had: no other failure may follow.
     */
    int awaitExit();

    /** Enter of its user, after which it also goes on from a pause. */
    void enter();

    /** A sample with a process of its own, which can be killed and has a standard input. */
    record OfProcess(ChildProcess process) implements RunningSample {
        @Override
        public String awaitLine(String regex) {
            return process.awaitLine(regex);
        }

        @Override
        public List<String> outputLines() {
            return process.outputLines();
        }

        @Override
        public List<String> errorLines() {
            return process.errorLines();
        }

        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        @Override
        public int awaitExit() {
            int exit = process.awaitExit();
            assertThat(process.errorLines()).noneMatch(line -> line.contains("Suppressed: "));
            return exit;
        }

        @Override
        public void enter() {
            try {
                process.standardInput().write('\n');
                process.standardInput().flush();
            } catch (IOException e) {
                throw new AssertionError("process does not read", e);
            }
        }
    }
}
