package io.softdpu.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.GivenText;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The option {@code --json} of the commands that measure. */
final class JsonOption {
    private static final String STDOUT = "-";

    @Option(
            names = "--json",
            paramLabel = "FILE|-",
            description = "Write the results as JSON; -: to standard output instead of the table.")
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
        Path folder = Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
        boolean writable =
                Files.exists(file)
                        ? Files.isRegularFile(file) && Files.isWritable(file)
                        : Files.isDirectory(folder) && Files.isWritable(folder);
        if (!writable) {
            throw new ParameterException(
                    command,
                    "file cannot be written: option=--json, file="
                            + json
                            + ", expected=a file in a folder that this user may write to");
        }
    }

    /** Writes the document to the destination of the option, if it is given. */
    void write(JsonNode document, PrintWriter out) throws IOException {
        if (isStandardOutput()) {
            out.println(document.toPrettyString());
        } else if (json != null) {
            String text = document.toPrettyString() + System.lineSeparator();
            CheckedFile.write(
                    Path.of(json),
                    FilePolicy.USER_DATA,
                    MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
        }
    }
}
