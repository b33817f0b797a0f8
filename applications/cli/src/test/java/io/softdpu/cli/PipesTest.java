package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Tests of pipes: refused without waiting where a file is expected, and closed standard output. */
@ExtendWith(OwnFabric.class)
class PipesTest {
    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "devices --topology PIPE|BAD_CONFIG: topology refused: file=PIPE, reason=it is a"
                        + " pipe, expected=a regular file",
                "storage target -d t0 --cpu any --listen-port 0 --volume PIPE|INVALID_VALUE: volume"
                        + " file is refused: file=PIPE, reason=it is a pipe, expected=a regular"
                        + " file",
                "storage initiator -d 0b:00.0 --cpu any --execution-strategy"
                    + " read_only_data_validity_test --storage-plain-content PIPE|INVALID_VALUE:"
                    + " plain content cannot be read: option=--storage-plain-content, file=PIPE,"
                    + " reason=it is a pipe, expected=a regular file",
                "sample dma-copy-host --file PIPE|IO_FAILED: file cannot be read: file=PIPE",
                "demo --volume PIPE|file=PIPE, reason=it is a pipe, expected=a regular file",
                "demo --size 1M --json PIPE|file cannot be written: option=--json, file=PIPE",
                "devices @PIPE|argument is not expected: argument=@PIPE"
            })
    void shouldRefuseAPipe(String arguments, String message) {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            String path = pipe.path().toString();
            Run command =
                    Run.of(
                            Stream.of(arguments.split(" ", -1))
                                    .map(each -> each.replace("PIPE", path))
                                    .toArray(String[]::new));

            assertThat(command.exit()).isNotZero();
            assertThat(command.errorLines())
                    .anyMatch(line -> line.contains(message.replace("PIPE", path)));
        }
    }

    /** The shell opens the pipe for writing while it has a reader, which it closes again. */
    @Test
    @StartsProcesses
    void shouldEndQuietlyWhereTheReaderOfItsOutputHasGone(Processes processes) {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            JavaCommand caps =
                    JavaCommand.ofClass(SoftDpu.class)
                            .withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                            .withArguments("caps");
            String script = "exec 3<>'%s' 1>'%s' 3>&-; exec \"$@\"";
            ChildProcess command =
                    processes.start(
                            caps.behind(
                                    "sh",
                                    "-c",
                                    Text.format(script, pipe.path(), pipe.path()),
                                    "sh"));

            assertThat(command.awaitExit()).isEqualTo(ExitCode.PIPE_CLOSED.code());
            assertThat(command.errorLines()).isEmpty();
        }
    }

    @Test
    @StartsProcesses
    void shouldFailWhereItsOutputFindsNoSpace(Processes processes) {
        ChildProcess command =
                processes.start(
                        JavaCommand.ofClass(SoftDpu.class)
                                .withArguments("topology", "--topology", "default")
                                .behind("sh", "-c", "exec \"$@\" >/dev/full", "sh"));

        assertThat(command.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(command.errorLines())
                .containsExactly(
                        "softdpu: IO_FAILED: output cannot be written: to=standard output,"
                                + " expected=free space");
    }

    @CommandLine.Command
    private static final class Measuring {
        @CommandLine.Mixin private JsonOption json = new JsonOption();
    }

    @Test
    void shouldNotWaitForAReaderOfResultsThatWereToGoIntoAFile() throws IOException {
        Path file = Files.createFile(folder.resolve("results.json"));
        Measuring measuring = new Measuring();
        CommandLine command = new CommandLine(measuring);
        command.parseArgs("--json", file.toString());
        measuring.json.check(command);
        Files.delete(file);

        try (NamedPipe pipe = NamedPipe.create(file)) {
            assertThatThrownBy(() ->
                            Bounded.call(
                                    "writing results",
                                    () -> {
                                        measuring.json.write(
                                                JsonNodeFactory.instance.objectNode(),
                                                new PrintWriter(new StringWriter()));
                                        return null;
                                    }))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContainingAll("file=" + pipe.path(), "a pipe");
        }
    }

    @Test
    void shouldNotWaitForTheReportOfAChild() {
        ChildReport report =
                new ChildReport(Status.SUCCESS.name(), 0, 0, 0, 0, 0, 0, "", List.of(), null);
        Path file = folder.resolve("target.json");
        try (NamedPipe pipe = NamedPipe.create(file)) {
            assertThatThrownBy(() -> Bounded.call("reading a report", () -> ChildReport.read(file)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContainingAll("file=" + pipe.path(), "it is a pipe");
            assertThatThrownBy(() ->
                            Bounded.call(
                                    "writing a report",
                                    () -> {
                                        report.write(file);
                                        return List.of();
                                    }))
                    .isInstanceOf(IOException.class)
                    .hasMessageContainingAll("file=" + pipe.path(), "a pipe");
        }
    }
}
