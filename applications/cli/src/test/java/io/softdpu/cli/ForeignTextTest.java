package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.HostileText;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests of foreign text in the lines that the command prints. */
class ForeignTextTest {
    /** Longer than what is shown of a text of others; no component may have more than 255 bytes. */
    private static final String TYPED =
            HostileText.of(200).replace('\0', 'x') + "/" + "b".repeat(200);

    private final StringWriter err = new StringWriter();

    @AfterEach
    void restoreLogLevel() {
        Logging.setLevel(LogLevel.WARNING);
    }

    @Test
    void shouldShowAPathThatTheUserTypedInOneLineAndWhole() {
        for (List<String> arguments :
                List.of(
                        List.of("devices", "--topology", TYPED),
                        List.of("demo", "--volume", TYPED),
                        List.of("devices", TYPED),
                        List.of("devices", "--" + TYPED),
                        List.of("demo", "--size", TYPED))) {
            err.getBuffer().setLength(0);
            CommandLine command = SoftDpu.commandLine(arguments.toArray(new String[0]));
            command.setErr(new PrintWriter(err));

            assertThat(command.execute(arguments.toArray(new String[0]))).isNotZero();

            List<String> lines = err.toString().lines().toList();
            HostileText.requireOneLine(lines.getFirst());
            assertThat(lines.getFirst()).contains("b".repeat(200));
            assertThat(lines).as("%s", lines).allMatch(line -> line.startsWith("softdpu: "));
            assertThat(lines).noneMatch(line -> line.startsWith("softdpu: OK"));
        }
    }

    @Test
    void shouldShowADefectInOneLine() {
        String line = Errors.describe(new IllegalStateException(HostileText.of(100)));

        HostileText.requireHarmless(line);
    }

    @Test
    void shouldLetNoMessageInAStackTracePassForALine() {
        Logging.setLevel(LogLevel.DEBUG);
        Exception cause = new NumberFormatException(HostileText.of(HostileText.LONG));
        cause.addSuppressed(new IllegalStateException(HostileText.of(1000), cause));
        Errors.report(
                new DpuException(Status.UNKNOWN, HostileText.of(100), cause), new PrintWriter(err));

        assertThat(err.toString().lines())
                .filteredOn(line -> line.contains("OK"))
                .hasSize(5) // the line, the failure, its cause, what that suppressed, its cause
                .allSatisfy(line -> HostileText.requireHarmless(line.strip()));
        assertThat(err.toString())
                .contains("Caused by: java.lang.NumberFormatException: evil")
                .contains("\tSuppressed: java.lang.IllegalStateException: evil")
                .contains("\tat io.softdpu.cli.ForeignTextTest");
    }

    @Test
    void shouldLogInOneLine() {
        PrintStream standardError = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            System.getLogger("io.softdpu.test")
                    .log(
                            System.Logger.Level.WARNING,
                            HostileText.of(100),
                            new IllegalStateException(HostileText.of(100)));
        } finally {
            System.setErr(standardError);
        }

        String line = written.toString(StandardCharsets.UTF_8);
        assertThat(line).hasLineCount(1).endsWith(System.lineSeparator());
        HostileText.requireHarmless(line.stripTrailing());
    }
}
