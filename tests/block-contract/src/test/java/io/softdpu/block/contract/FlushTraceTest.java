package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * System calls of a flush and of a creation, as strace has them: the sync of a flush ends before
 * its completion. A ring has a thread of the kernel for it, which strace does not see: there it is
 * the call that submits it, the only one between the end of the write and that of the flush.
 */
@StartsProcesses
class FlushTraceTest {
    private static final Pattern SYNCED =
            Pattern.compile("[0-9]+ +(fdatasync\\([0-9]+<[^>]*>|<... fdatasync resumed>)\\) += 0");

    private static final Pattern SUBMITTED =
            Pattern.compile("[0-9]+ +io_uring_enter\\([0-9]+<[^>]*>, 1, .* = 1");

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"", "&threads=1"})
    void shouldSyncBeforeAFlushCompletes(String options, Processes processes) throws IOException {
        if (options.isEmpty()) {
            new FileEnvironment("", "io_uring").open(folder, 4096, 4096).close(); // or skips
        }

        List<String> lines = traced(options, "write,fdatasync,io_uring_enter", processes);

        int written = first(lines, "\"WRITTEN");
        int flushed = first(lines, "\"FLUSHED");
        assertThat(lines.subList(written, flushed))
                .as("of any thread, and ended")
                .anyMatch((options.isEmpty() ? SUBMITTED : SYNCED).asMatchPredicate());
    }

    @Test
    void shouldMakeAFileDurableBeforeItAppearsAndThenItsName(Processes processes)
            throws IOException {
        List<String> lines = traced("&threads=1", "link,linkat,fsync", processes);

        int appears = first(lines, "/volume\"");
        assertThat(lines.subList(0, appears))
                .as("file, by the thread that links it")
                .anyMatch(line -> syncs(line, "[^>]*/\\.softdpu\\.[^>/]*\\.new"));
        assertThat(lines.subList(appears, lines.size()))
                .as("folder")
                .anyMatch(line -> syncs(line, "[^>]*/" + folder.getFileName()));
    }

    private static boolean syncs(String line, String file) {
        return line.matches("[0-9]+ +fsync\\([0-9]+<" + file + ">.*");
    }

    /** System calls of a program that creates a volume, writes and flushes. */
    private List<String> traced(String options, String calls, Processes processes)
            throws IOException {
        Path trace = folder.resolve("trace");
        if (processes
                        .start(
                                new ProcessBuilder(
                                        "sh", "-c", "strace -o '" + trace + "' -e trace=none true"))
                        .awaitExit()
                != 0) {
            System.err.println("SKIPPED, NOT SHOWN HERE: strace is missing, or may trace nothing");
            Assumptions.abort("no strace");
        }
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(FlushProgram.class)
                                .withEnvironment(
                                        "SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                                .withArguments(
                                        "file:"
                                                + folder.resolve("volume")
                                                + "?create=64KiB"
                                                + options)
                                .behind(
                                        "strace",
                                        "-f",
                                        "--seccomp-bpf",
                                        "-y",
                                        "-o",
                                        trace.toString(),
                                        "-e",
                                        "trace=?" + calls.replace(",", ",?")));
        assertThat(program.awaitExit()).as("%s", program.errorLines()).isZero();
        return Files.readAllLines(trace);
    }

    private static int first(List<String> lines, String text) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(text)) {
                return i;
            }
        }
        throw new AssertionError("not in the trace: " + text + ", lines=" + lines);
    }
}
