package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;

/**
 * A command line that was run in this JVM, in its fabric folder: for commands that start no process
 * and get no signal. Its lines are all that came to the standard streams meanwhile: of the command,
 * of loggers, and of threads that ended with an exception.
 *
 * @param exit its exit code
 */
record Run(int exit, List<String> outputLines, List<String> errorLines) {

    /** Runs it to its end, one at a time: it replaces the standard streams of this JVM. */
    static synchronized Run of(String... arguments) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        PrintStream standardOutput = System.out;
        PrintStream standardError = System.err;
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        try {
            CommandLine command =
                    SoftDpu.commandLine(arguments)
                            .setOut(writerTo(System.out))
                            .setErr(writerTo(System.err));
            int exit = SoftDpu.execute(command, arguments);
            command.getOut().flush();
            command.getErr().flush();
            return new Run(exit, lines(output), lines(errors));
        } finally {
            System.setOut(standardOutput);
            System.setErr(standardError);
            Logging.setLevel(LogLevel.WARNING);
        }
    }

    /** Runs words that are separated by single spaces. */
    static Run ofWords(String words) {
        return of(words.split(" "));
    }

    private static PrintWriter writerTo(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    private static List<String> lines(ByteArrayOutputStream text) {
        return text.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** It was refused for its command line, with this in the first line. */
    void assertRefused(String reason) {
        assertThat(exit).isEqualTo(ExitCode.USAGE.code());
        assertThat(errorLines.getFirst()).startsWith("softdpu: ").contains(reason);
    }
}
