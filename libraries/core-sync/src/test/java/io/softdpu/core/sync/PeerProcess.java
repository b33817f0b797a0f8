package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.CountedCalls;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * A process that runs {@link SyncEventPeer}, for one test after the other. Belongs to one thread.
 */
final class PeerProcess {

    private final ChildProcess process;
    private int number;
    private String command = "";
    private boolean answered = true;

    PeerProcess(Processes processes) {
        process =
                processes.start(
                        JavaCommand.ofClass(SyncEventPeer.class)
                                .withJvmOptions("-D" + CountedCalls.PROPERTY + "=true"));
    }

    ChildProcess process() {
        return process;
    }

    /**
     * Opens and starts the CPU handle of a new event.
     *
     * @return the blob of a DPU handle
     */
    byte[] openCpu(Path folder, String mode) {
        tell("open " + folder + " " + mode);
        String blob = answer();
        assertThat(blob).as("blob in the answer to open").matches("[0-9a-f]+");
        return HexFormat.of().parseHex(blob);
    }

    /** Opens and starts a DPU handle. */
    void openDpu(Path folder, String mode, byte[] blob) {
        String text = HexFormat.of().formatHex(blob);
        tell("open " + folder + " " + mode + " " + text);
        assertThat(answer()).as("answer to open").isEqualTo(text);
    }

    /**
     * Closes the handle.
     *
     * @return false where it still executes a command, or has ended
     */
    boolean close() {
        if (!answered || !process.isAlive()) {
            return false;
        }
        tell("close");
        assertThat(answer()).as("answer to close").isEqualTo("done");
        return true;
    }

    void tell(String words) {
        number++;
        command = words.split(" ")[0];
        answered = false;
        try {
            process.standardInput()
                    .write((number + " " + words + "\n").getBytes(StandardCharsets.US_ASCII));
            process.standardInput().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What it says of the last command behind that word. */
    String awaitLine(String word) {
        String prefix = number + " " + word + " ";
        return process.awaitLine("^" + prefix).substring(prefix.length());
    }

    /** The answer to the last command. */
    String answer() {
        String answer = awaitLine(command);
        answered = true;
        return answer;
    }

    /** The id of its thread that sleeps or is about to: an update from now on has to wake it. */
    String asleep(String words) {
        tell(words);
        return awaitLine("asleep");
    }

    /** Ends it by SIGKILL, and waits for that. */
    void kill() {
        process.kill();
        process.awaitExit();
    }
}
