package io.softdpu.perf.child;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The command line of this program up to its main class, which starts another process with the same
 * Java, modules and flags.
 *
 * @param prefix the Java command and all arguments before the program's own
 */
public record JvmCommand(List<String> prefix) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final int SIGKILL = 128 + 9;

    /** Before this program has started any process, which needs this class. */
    private static final OptionalLong KILLED_BEFORE = MemoryLimits.killedProcesses();

    /** Takes a copy. */
    public JvmCommand {
        prefix = List.copyOf(prefix);
    }

    /**
     * Reads the command line of this process.
     *
     * @param ownArguments what its main method got
     * @throws DpuException OPERATING_SYSTEM if the command line cannot be read; BAD_STATE if it
     *     does not end with those arguments (the program runs inside another one); INVALID_VALUE if
     *     a word cannot be represented in the locale of this JVM
     */
    public static JvmCommand ofThisProcess(List<String> ownArguments) {
        List<String> all;
        try {
            all = split(Files.readAllBytes(COMMAND_LINE));
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "own command line cannot be read: file="
                            + COMMAND_LINE
                            + ", reason="
                            + Reason.of(e),
                    e);
        }
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return of(all, ownArguments, java);
    }

    static JvmCommand of(List<String> all, List<String> ownArguments, Path java) {
        int prefixLength = all.size() - ownArguments.size();
        if (prefixLength < 2 || !all.subList(prefixLength, all.size()).equals(ownArguments)) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "process was not started as the softdpu command: command=" + all);
        }
        List<String> prefix = new ArrayList<>();
        for (String word : all.subList(0, prefixLength)) { // as the next process must get it
            prefix.add(
                    GivenText.text(
                            "process=this JVM",
                            word,
                            refusal -> new DpuException(Status.INVALID_VALUE, refusal)));
        }
        // The first word may be relative to a folder or a search path that is no longer the same.
        prefix.set(0, java.toString());
        return new JvmCommand(prefix);
    }

    /** The words of a command line, each ended by a zero byte. */
    static List<String> split(byte[] commandLine) {
        List<String> words = new ArrayList<>();
        int begin = 0;
        for (int i = 0; i < commandLine.length; i++) {
            if (commandLine[i] == 0) {
                words.add(new String(commandLine, begin, i - begin, StandardCharsets.UTF_8));
                begin = i + 1;
            }
        }
        return words;
    }

    /**
     * Describes the end of a process that was started by such a command. A process that is killed
     * for lack of memory cannot say so itself.
     *
     * @param exitCode 128 + the number of the signal that ended it
     */
    public static String describeExit(int exitCode) {
        return exitCode == SIGKILL
                ? describeKill(KILLED_BEFORE, MemoryLimits.killedProcesses())
                : "exit=" + exitCode;
    }

    /**
     * Describes a kill.
     *
     * @param before number of kills for lack of memory before the process was started; empty: not
     *     known
     * @param now the number after its end
     */
    static String describeKill(OptionalLong before, OptionalLong now) {
        boolean notCounted = before.isPresent() && before.equals(now);
        return "exit="
                + SIGKILL
                + (notCounted
                        ? " (SIGKILL, but the kernel has counted no kill for lack of memory)"
                        : " (SIGKILL, probably for lack of memory)");
    }

    /** The same behind words that become it, as {@code nsenter --net=FILE}; none for itself. */
    public JvmCommand behind(List<String> words) {
        List<String> all = new ArrayList<>(words);
        all.addAll(prefix);
        return new JvmCommand(all);
    }

    /** A whole command line with these arguments. */
    public List<String> with(List<String> arguments) {
        List<String> all = new ArrayList<>(prefix);
        all.addAll(arguments);
        return all;
    }
}
