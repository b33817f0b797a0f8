package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/**
 * A command line that was run in this JVM, in its fabric folder: for commands that start no process
 * and get no signal.
 *
 * @param exit its exit code
 */
record Run(int exit, List<String> outputLines, List<String> errorLines) {

    /** Runs it to its end. */
    static Run of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        try {
            int exit =
                    SoftDpu.execute(
                            SoftDpu.commandLine(arguments)
                                    .setOut(new PrintWriter(out, true))
                                    .setErr(new PrintWriter(err, true)),
                            arguments);
            return new Run(exit, lines(out), lines(err));
        } finally {
            Logging.setLevel(LogLevel.WARNING);
        }
    }

    /** Runs words that are separated by single spaces. */
    static Run ofWords(String words) {
        return of(words.split(" "));
    }

    private static List<String> lines(StringWriter text) {
        return text.toString().lines().toList();
    }

    /** It was refused for its command line, with this in the first line. */
    void assertRefused(String reason) {
        assertThat(exit).isEqualTo(ExitCode.USAGE.code());
        assertThat(errorLines.getFirst()).startsWith("softdpu: ").contains(reason);
    }
}
