package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/** A started {@link ProgramProcess}, which runs programs of the far side for one test or many. */
final class FarProcess implements AutoCloseable {

    private final ChildProcess process;
    private final List<FarProgram> running = new ArrayList<>();
    private int programs;
    private boolean frozen;
    private boolean killed;

    /** A program did not end. */
    private boolean hung;

    private FarProcess(ChildProcess process) {
        this.process = process;
    }

    static FarProcess start(Processes processes) {
        return new FarProcess(processes.start(JavaCommand.ofClass(ProgramProcess.class)));
    }

    /** Starts a program; the words are class of the test environment, folder, arguments. */
    FarProgram run(ProgramProcess.Program program, List<String> words) {
        FarProgram started = new FarProgram(programs++);
        started.command(ProgramProcess.START + " " + program + " " + String.join(" ", words));
        running.add(started);
        return started;
    }

    long pid() {
        return process.pid();
    }

    /** Stops all threads of all its programs. */
    void freeze() {
        process.freeze();
        frozen = true;
    }

    /** Lets a frozen process go on. */
    void thaw() {
        process.thaw();
        frozen = false;
    }

    /** Ends it by SIGKILL, and waits until it is gone. */
    void kill() {
        killed = true;
        process.kill();
        process.awaitExit();
    }

    /** Whether it can run programs: it is alive, and has none that did not end. */
    boolean isUsable() {
        return !killed && !hung && process.isAlive();
    }

    /**
     * Ends all programs, waits until they have released what they held, and asserts that none has
     * failed. Kills the process at the first that does not end.
     */
    void endPrograms() {
        List<FarProgram> ending = List.copyOf(running);
        running.clear();
        if (killed) {
            return;
        }
        List<Executable> steps = new ArrayList<>();
        if (frozen) {
            steps.add(this::thaw);
        }
        ending.forEach(program -> steps.add(() -> program.command(ProgramProcess.END)));
        ending.forEach(program -> steps.add(() -> awaitEndOrKill(program)));
        assertAll(steps);
    }

    private void awaitEndOrKill(FarProgram program) {
        try {
            program.awaitEnd();
        } finally {
            if (!program.hasEnded()) {
                hung = true;
                process.kill();
            }
        }
    }

    @Override
    public void close() {
        process.close();
    }

    /** A program that runs in the process. */
    final class FarProgram {

        private final int number;

        private FarProgram(int number) {
            this.number = number;
        }

        FarProcess process() {
            return FarProcess.this;
        }

        private void command(String command) {
            try {
                process.standardInput()
                        .write((number + " " + command + "\n").getBytes(StandardCharsets.US_ASCII));
                process.standardInput().flush();
            } catch (IOException e) {
                throw new UncheckedIOException("process has no input: process=" + process, e);
            }
        }

        /** Gives it a line of input. */
        void tell(String line) {
            command(ProgramProcess.TELL + " " + line);
        }

        /** Waits for a line that begins so; returns the rest of it. */
        String awaitBegin(String begin) {
            return awaitLine(begin).substring(begin.length());
        }

        /**
         * Waits for a line of output, which may have come already.
         *
         * @param regex of the line's beginning
         */
        String awaitLine(String regex) {
            String ends = ProgramProcess.ENDED + "|" + ProgramProcess.FAILED;
            String prefix = number + " ";
            String line =
                    process.awaitLine("^" + prefix + "(?:" + regex + "|" + ends + ")")
                            .substring(prefix.length());
            if (line.matches("(?:" + ends + ").*") && !line.matches(regex + ".*")) {
                throw new AssertionError(
                        Text.format(
                                "line did not come: regex=%s, last=%s\n  errors:\n    %s",
                                regex, line, errors()));
            }
            return line;
        }

        /** Whether it has printed the line. */
        boolean hasPrinted(String line) {
            return process.outputLines().contains(number + " " + line);
        }

        private boolean hasEnded() {
            return process.outputLines().stream()
                    .anyMatch(line ->
                            line.equals(number + " " + ProgramProcess.ENDED)
                                    || line.startsWith(number + " " + ProgramProcess.FAILED));
        }

        /** Bytes that it has printed. */
        byte[] awaitBytes(String name) {
            return HexFormat.of().parseHex(awaitBegin(name));
        }

        /** Waits until it ends by itself, and asserts that it has not failed. */
        void awaitEnd() {
            String last = awaitLine(ProgramProcess.ENDED + "|" + ProgramProcess.FAILED);
            assertThat(last).as("errors: %s", errors()).isEqualTo(ProgramProcess.ENDED);
        }

        private String errors() {
            return String.join("\n    ", process.errorLines());
        }
    }
}
