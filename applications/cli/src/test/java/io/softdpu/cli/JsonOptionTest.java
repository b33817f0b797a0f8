package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Tests of the file with the results of a measurement. */
@ExtendWith(OwnFabric.class)
class JsonOptionTest {
    @CommandLine.Command
    private static final class Measuring {
        @CommandLine.Mixin private JsonOption json = new JsonOption();
    }

    @TempDir Path folder;

    private Path other;

    @BeforeEach
    void createOther() throws IOException {
        other = Files.writeString(folder.resolve("thesis.txt"), "of years");
    }

    private static void check(Path file) {
        parsed(file);
    }

    private static JsonOption parsed(Path file) {
        Measuring measuring = new Measuring();
        CommandLine command = new CommandLine(measuring);
        command.parseArgs("--json", file.toString());
        measuring.json.check(command);
        return measuring.json;
    }

    private static void write(JsonOption json) {
        json.write(JsonNodeFactory.instance.objectNode(), new PrintWriter(new StringWriter()));
    }

    @Test
    void shouldMeanStandardOutputWithoutAValue() {
        for (String[] arguments : new String[][] {{"--json"}, {"--json", "-"}}) {
            Measuring measuring = new Measuring();
            new CommandLine(measuring).parseArgs(arguments);
            assertThat(measuring.json.isStandardOutput()).isTrue();
        }
        Measuring measuring = new Measuring();
        new CommandLine(measuring).parseArgs();
        assertThat(measuring.json.isStandardOutput()).isFalse();
    }

    @Test
    void shouldReplaceARegularFileAndCreateANewOne() throws IOException {
        Path file = folder.resolve("results.json");
        for (int run = 1; run <= 2; run++) {
            write(parsed(file));
            assertThat(file).hasContent("{ }\n");
            Files.writeString(file, "{\"results\": \"of an earlier version, which were longer\"}");
        }
    }

    /** As the input of a command whose option has taken it for its value. */
    @Test
    void shouldRefuseToReplaceWhatIsNoResult() throws IOException {
        assertThatThrownBy(() -> check(other))
                .isInstanceOf(ParameterException.class)
                .hasMessage(
                        "file has other content than results: option=--json, file=%s, expected=a"
                                + " new file, or one that is empty or begins with {",
                        other);
        assertThat(other).hasContent("of years");
        Files.writeString(other, "");
        write(parsed(other));
        assertThat(other).hasContent("{ }\n");
    }

    @Test
    void shouldRefuseWhatItMayNotReplaceBeforeTheMeasurement() throws IOException {
        Path directory = Files.createDirectory(folder.resolve("directory"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), other);
        Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("new"));
        Path missing = folder.resolve("missing/results.json");
        assertRefused(directory, "it is a directory, expected=a regular file");
        assertRefused(Path.of("/dev/full"), "it is a character device, expected=a regular file");
        assertRefused(link, "it is a symbolic link, expected=a regular file");
        assertRefused(dangling, "it is a symbolic link, expected=a regular file");
        assertRefused(
                missing,
                "its folder does not exist, expected=a file in a folder that this user may write"
                        + " to");
        assertThat(other).hasContent("of years");
        assertThat(link).isSymbolicLink();
        assertThat(folder.resolve("new")).doesNotExist();
    }

    private static void assertRefused(Path file, String reason) {
        assertThatThrownBy(() -> check(file))
                .isInstanceOf(ParameterException.class)
                .hasMessage(
                        "file cannot be written: option=--json, file="
                                + file
                                + ", reason="
                                + reason);
    }

    @Test
    void shouldKeepALinkThatTookTheNameDuringTheMeasurement() throws IOException {
        Path file = folder.resolve("results.json");
        JsonOption json = parsed(file);
        Files.createSymbolicLink(file, other);

        assertThatThrownBy(() -> write(json))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED))
                .hasMessageContainingAll("file=" + file, "reason=it is a symbolic link");
        assertThat(file).isSymbolicLink();
        assertThat(other).hasContent("of years");
    }

    /** A limit of the size of files ends a write in the middle, as a full disk does. */
    @Test
    @StartsProcesses
    void shouldKeepEarlierResultsWhereTheDiskIsFull(Processes processes) throws IOException {
        Path earlier = Files.writeString(folder.resolve("earlier.json"), "{}");
        for (Path file : new Path[] {earlier, folder.resolve("new.json")}) {
            ChildProcess doctor =
                    processes.start(
                            JavaCommand.ofClass(SoftDpu.class)
                                    .withJvmOptions("-XX:-UsePerfData")
                                    .withEnvironment(
                                            "SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                                    .withArguments("doctor", "--json", file.toString())
                                    .behind("prlimit", "--fsize=1024:1024"));

            assertThat(doctor.awaitExit()).isEqualTo(ExitCode.FAILED.code());
            assertThat(doctor.errorLines())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "softdpu: IO_FAILED: file cannot be written: option=--json, file="
                                    + file
                                    + ", reason=")
                    .contains("EFBIG, expected=a file with free space");
        }
        assertThat(earlier).hasContent("{}");
        try (var all = Files.list(folder)) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .isSubsetOf("thesis.txt", "earlier.json", "fabric");
        }
    }
}
