package io.softdpu.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.file.OutputFile;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The option {@code --json} of the commands that print results: alone for standard output, or with
 * a file.
 */
final class JsonOption {
    private static final String STDOUT = "-";

    @Option(
            names = "--json",
            paramLabel = "FILE|-",
            arity = "0..1",
            fallbackValue = STDOUT,
            description =
                    "Print the results as JSON instead of the table (-, or no value), or write them"
                            + " to a file beside it, in place of earlier results.")
    private @Nullable String json;

    /** True if the document is printed instead of the table. */
    boolean isStandardOutput() {
        return STDOUT.equals(json);
    }

    /** Checks the file before the measurement, whose results would be lost otherwise. */
    void check(CommandLine command) {
        if (json == null || isStandardOutput()) {
            return;
        }
        Path file =
                GivenText.path(
                        "option=--json", json, refusal -> new ParameterException(command, refusal));
        try {
            OutputFile.requireReplaceable(file);
            if (isOther(file)) {
                throw new ParameterException(
                        command,
                        Text.format(
                                "file has other content than results: option=--json, file=%s,"
                                        + " expected=a new file, or one that is empty or begins"
                                        + " with {",
                                json));
            }
        } catch (IOException e) {
            throw new ParameterException(command, refusal(json, e), e);
        }
    }

    /** Whether a file has other content than results, such as the input of the command. */
    private static boolean isOther(Path file) throws IOException {
        try (CheckedFile there = CheckedFile.open(file, FilePolicy.USER_DATA)) {
            MemorySegment first = MemorySegment.ofArray(new byte[1]);
            return there.read(first, 0) == 1 && first.get(ValueLayout.JAVA_BYTE, 0) != '{';
        } catch (NoSuchFileException e) { // a new one
            return false;
        }
    }

    /**
     * Writes the document to the destination of the option, if it is given: all of it, or what was
     * there stays.
     *
     * @throws DpuException IO_FAILED naming the file
     */
    void write(JsonNode document, PrintWriter out) {
        if (json != null) {
            writeText(document.toPrettyString() + System.lineSeparator(), out);
        }
    }

    /**
     * As {@link #write}, for a document that has been made.
     *
     * @param text whole lines
     */
    void writeText(String text, PrintWriter out) {
        if (isStandardOutput()) {
            out.print(text);
            out.flush();
        } else if (json != null) {
            try {
                OutputFile.replace(
                        Path.of(json),
                        MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
            } catch (IOException e) {
                throw new DpuException(Status.IO_FAILED, refusal(json, e), e);
            }
        }
    }

    private static String refusal(String json, IOException cause) {
        return Text.format(
                "file cannot be written: option=--json, file=%s, reason=%s%s",
                json,
                Reason.of(cause),
                cause instanceof FileRefusedException
                        ? "" // its reason says what is expected
                        : ", expected=a file with free space, in a folder that this user may"
                                + " write to");
    }
}
