package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.testkit.Clause;
import io.softdpu.topology.json.TopologyJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Tests of files with flags, without a further process. */
class FlagFileArgumentsTest {
    private static final String SERVICE =
            """
            {
              // a comment
              "doca_general_flags": {"log-level": 60, "sdk-log-level": 70},
              "doca_program_flags": {
                "device": "03:00.0",
                "representor": "0b:00.0",
                "cpu": [0],
                "storage-server": "127.0.0.1:1",
                "control-timeout": 0.5
              }
            }
            """;

    @TempDir Path folder;

    private final StringWriter err = new StringWriter();

    @AfterEach
    void restoreLogLevels() {
        Logging.setLevel(LogLevel.WARNING);
        Logging.setSdkLevel(LogLevel.WARNING);
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("flags.json"), text);
    }

    /** The arguments after the expansion; those given are separated by spaces. */
    private static String[] expanded(String arguments) {
        String[] words = arguments.split(" ");
        return FlagFileArguments.expand(SoftDpu.commandLine(words), words);
    }

    private int execute(String arguments) {
        String[] words = arguments.split(" ");
        CommandLine command = SoftDpu.commandLine(words);
        command.setErr(new PrintWriter(err, true)).setOut(new PrintWriter(Writer.nullWriter()));
        return SoftDpu.execute(command, words);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-j ", "-j", "--json ", "--json=", "-qj "})
    @Clause("sto-029")
    void shouldTakeEachFlagOfTheFile(String option) throws IOException {
        String quiet = option.startsWith("-q") ? "" : " --log-level=60";
        String named = option + file(SERVICE);
        assertThat(String.join(" ", expanded("storage zero-copy " + named)))
                .isEqualTo(
                        "storage zero-copy"
                                + quiet
                                + " --sdk-log-level=70 --device=03:00.0"
                                + " --representor=0b:00.0 --cpu=0 --storage-server=127.0.0.1:1"
                                + " --control-timeout=0.5 "
                                + named);
    }

    @Test
    @Clause("sto-038")
    void shouldPreferTheCommandLineAndReplaceAnArrayAsAWhole() throws IOException {
        Path file = file(SERVICE.replace("[0]", "[0, \"prefer:1\"]"));
        assertThat(expanded("-l 10 storage zero-copy -j " + file + " -r hpf0 --cpu any"))
                .containsExactly(
                        ("-l 10 storage zero-copy --sdk-log-level=70 --device=03:00.0"
                                        + " --storage-server=127.0.0.1:1 --control-timeout=0.5 -j "
                                        + file
                                        + " -r hpf0 --cpu any")
                                .split(" "));
        assertThat(expanded("storage zero-copy -j " + file))
                .containsSubsequence("--cpu=0", "--cpu=prefer:1");
    }

    @Test
    @Clause("sto-040")
    void shouldTakeSeveralCoresAsAnArrayAndAsTheListOfTheCommandLine() throws IOException {
        for (String cores : new String[] {"[0, 1]", "\"0,1\"", "[\"0,1\"]", "[0, \"1\"]"}) {
            String[] words =
                    expanded("storage zero-copy -j " + file(SERVICE.replace("[0]", cores)));

            ParseResult role =
                    SoftDpu.commandLine(words).parseArgs(words).subcommand().subcommand();

            assertThat(((RoleCommand) role.commandSpec().userObject()).cpus())
                    .as(cores)
                    .extracting(CpuBinding::toString)
                    .containsExactly("0", "1");
        }
        for (String cores : new String[] {"\"0,\"", "\",0\"", "\"0, 1\"", "[\"0,x\"]"}) {
            assertThat(expansion("zero-copy", "cpu", cores)).as(cores).isNull();
        }
    }

    @Test
    @Clause({"sto-029", "sto-038"})
    void shouldFindARequiredFlagInEither() throws IOException {
        Path file = file("{\"doca_program_flags\": {\"device\": \"03:00.0\", \"cpu\": 0}}");
        assertThat(execute("storage zero-copy -j " + file + " -r x --storage-server y"))
                .isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).startsWith("softdpu: storage server is illegal");
        err.getBuffer().setLength(0);
        assertThat(execute("storage zero-copy -j " + file)).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString())
                .startsWith(
                        "softdpu: values are missing: options=[--representor, --storage-server]");
    }

    @Test
    @Clause("sto-028")
    void shouldTakeTheLevelOfTheLibrariesOnTheScaleOfTheProgramAndWithoutAShortForm() {
        for (LogLevel level : LogLevel.values()) {
            execute("topology --topology default --sdk-log-level " + level);
            assertThat(Logging.sdkLevel()).isEqualTo(level);
            assertThat(Logging.level()).isEqualTo(LogLevel.WARNING);
        }
        execute("topology --topology default --sdk-log-level 50");
        assertThat(Logging.sdkLevel()).isEqualTo(LogLevel.INFO);
        execute("topology --topology default -l 60");
        assertThat(Logging.sdkLevel()).as("default").isEqualTo(LogLevel.WARNING);
        for (String role : new String[] {"target", "zero-copy", "initiator"}) {
            CommandLine storage = SoftDpu.commandLine().getSubcommands().get("storage");
            assertThat(
                            storage.getSubcommands()
                                    .get(role)
                                    .getCommandSpec()
                                    .findOption("--sdk-log-level")
                                    .names())
                    .containsExactly("--sdk-log-level");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{~'doca_program_flags': {~'cpus': 0}}|no such flag: file=FILE, line=3,"
                        + " name=cpus, section=doca_program_flags, expected=one of [device, cpu,",
                "{'doca_general_flags': {'device': 'x'}}|no such flag: file=FILE, line=1,"
                        + " name=device, section=doca_general_flags, expected=one of [log-level,"
                        + " sdk-log-level]",
                "{'doca_program_flags': {'log-level': 60}}|no such flag: file=FILE, line=1,"
                        + " name=log-level, section=doca_program_flags, expected=one of [",
                "{'doca_program_flags': {'report': 'x'}}|no such flag: file=FILE, line=1,"
                        + " name=report,",
                "{~~'doca_dpdk_flags': {}}|no such section: file=FILE, line=3,"
                        + " name=doca_dpdk_flags, expected=one of [doca_general_flags,"
                        + " doca_program_flags]",
                "{'doca_programm_flags': {}}|no such section: file=FILE, line=1,"
                        + " name=doca_programm_flags, expected=one of [doca_general_flags,"
                        + " doca_program_flags]; did you mean doca_program_flags or"
                        + " doca_general_flags?",
                "{'doca_program_flags': {'cpu': 0,~'cpu': 1}}|flag is given twice: file=FILE,"
                        + " line=2, name=cpu, expected=one value",
                "{'doca_program_flags': {},~'doca_program_flags': {}}|section is given twice:"
                        + " file=FILE, line=2, name=doca_program_flags, expected=one section",
                "{'doca_program_flags': {'device': 3}}|value is of a wrong type: file=FILE,"
                        + " line=1, name=device, value=3, type=whole number, expected=string",
                "{'doca_program_flags': {'control-timeout': true}}|value is of a wrong type:"
                        + " file=FILE, line=1, name=control-timeout, value=true, type=boolean,"
                        + " expected=string or whole number or number",
                "{'doca_program_flags': {'control-timeout': ' 5'}}|value is illegal: file=FILE,"
                        + " line=1, name=control-timeout, value= 5, expected=seconds from",
                "{'doca_program_flags': {'device': ['a', 'b']}}|value is of a wrong type:"
                        + " file=FILE, line=1, name=device, value=an array of 2, expected=one"
                        + " value, no array",
                "{'doca_program_flags': {'cpu': []}}|value is of a wrong type: file=FILE,"
                        + " line=1, name=cpu, value=an array of 0, expected=one value or more",
                "{'doca_program_flags': {'cpu': null}}|value is of a wrong type: file=FILE,"
                        + " line=1, name=cpu, value=null, expected=a string, a number,",
                "{'doca_program_flags': {'cpu': [0,~true]}}|value is of a wrong type: file=FILE,"
                        + " line=2, name=cpu, value=true, type=boolean, expected=",
                "{'doca_program_flags': {'cpu': [[0]]}}|value is of a wrong type: file=FILE,"
                        + " line=1, name=cpu, value=[, expected=a string, a number,",
                "{'doca_program_flags': []}|value is of a wrong type: file=FILE, line=1,"
                        + " name=doca_program_flags, value=[, expected=an object",
                "[]|value is of a wrong type: file=FILE, line=1, value=[, expected=an object",
                "{'doca_general_flags': {'log-level': 55}}|value is illegal: file=FILE, line=1,"
                        + " name=log-level, value=55, expected=one of 10=DISABLE,",
                "{'doca_program_flags': {'cpu': -1}}|value is illegal: file=FILE, line=1,"
                        + " name=cpu, value=-1, expected=",
                "{} {}|text after the flags: file=FILE, line=1, value={, expected=the end of file",
                "{~'doca_program_flags': {|not JSON: file=FILE, line=2, reason=",
                "nonsense|not JSON: file=FILE, line=1, reason="
            })
    void shouldRefuseAFileAndNameItsLine(String text, String reason) throws IOException {
        Path file = file(text.replace('\'', '"').replace('~', '\n'));
        assertThat(execute("storage zero-copy -j " + file)).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).startsWith("softdpu: " + reason.replace("FILE", "" + file));
        assertThat(err.toString()).hasLineCount(2).contains("softdpu storage zero-copy --help");
    }

    @Test
    void shouldSuggestAFlagForAMistypedOne() throws IOException {
        Path file = file("{\"doca_program_flags\": {\"cpus\": 0}}");
        assertThat(execute("storage target -j " + file)).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).contains("; did you mean cpu?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldRefuseAFileThatIsMissingOrCannotBeRead(String role) {
        Path missing = folder.resolve("none");
        assertThat(execute("storage " + role + " -j " + missing)).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("softdpu: flags cannot be read: file=" + missing)
                .contains("reason=it does not exist, expected=");
        err.getBuffer().setLength(0);
        assertThat(execute("storage " + role + " -j " + folder)).isEqualTo(2);
        assertThat(err.toString()).contains("reason=it is a directory, expected=");
    }

    @Test
    void shouldLeaveOtherCommandLinesAsTheyAre() {
        for (String arguments :
                new String[] {
                    "demo --json results.json",
                    "perf comch latency --json -",
                    "storage zero-copy --help -j none",
                    "storage zero-copy -j",
                    "storage -j none",
                    "storage nothing -j none",
                    "-j"
                }) {
            assertThat(expanded(arguments)).as(arguments).isEqualTo(arguments.split(" "));
        }
    }

    @Test
    void shouldTakeTheNumbersAndSizesOfTheOtherPrograms() throws IOException {
        Path file =
                file(
                        """
                        {"doca_program_flags": {
                          "device": "0b:00.0", "cpu": "any", "max-memory": "64MiB", "warm-up": 0,
                          "transaction-count": 8, "execution-strategy": "read_throughput_test",
                          "storage-plain-content": "a b", "local-io-region-size": 0
                        }}
                        """);
        assertThat(Arrays.asList(expanded("storage initiator -j " + file)))
                .contains(
                        "--max-memory=64MiB",
                        "--warm-up=0",
                        "--transaction-count=8",
                        "--storage-plain-content=a b",
                        "--local-io-region-size=0");
        Path ofTarget =
                file(
                        """
                        {"doca_program_flags": {
                          "device": "t0", "cpu": "any", "listen-port": 0, "block-count": 256,
                          "listen-address": "127.0.0.1", "binary-content": "a.sbc"
                        }}
                        """);
        assertThat(Arrays.asList(expanded("storage target -j " + ofTarget)))
                .contains(
                        "--block-count=256",
                        "--listen-address=127.0.0.1",
                        "--binary-content=a.sbc");
        Path large = file("{\"doca_program_flags\": {\"listen-port\": 99999999999}}");
        assertThat(execute("storage target -j " + large)).isEqualTo(2);
        assertThat(err.toString()).contains("name=listen-port, value=99999999999, expected=a num");
    }

    /** For each flag whose value is a number, of whatever command: none is forgotten. */
    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldTakeANumberAsAStringForEachFlag(String role) throws IOException {
        CommandLine storage = SoftDpu.commandLine().getSubcommands().get("storage");
        List<String> numbers = new ArrayList<>();
        for (OptionSpec option : storage.getSubcommands().get(role).getCommandSpec().options()) {
            String name = option.longestName().substring(2);
            if (!option.hidden()
                    && expansion(role, name, "1024") != null
                    && expansion(role, name, "true") == null) {
                numbers.add(name);
                assertThat(expansion(role, name, "\"1024\""))
                        .as(name)
                        .isEqualTo(expansion(role, name, "1024"));
                for (String illegal :
                        new String[] {" 1024", "1024 ", "+1024", "١٠٢٤", "0x400", ""}) {
                    assertThat(expansion(role, name, '"' + illegal + '"'))
                            .as("%s: \"%s\"", name, illegal)
                            .isNull();
                }
            }
        }
        assertThat(numbers).contains("cpu", "control-timeout");
    }

    /** Command line of a role whose file has a flag of this value; null if it is refused. */
    private @Nullable List<String> expansion(String role, String name, String value)
            throws IOException {
        Path file = file("{\"doca_program_flags\": {\"" + name + "\": " + value + "}}");
        try {
            return Arrays.asList(expanded("storage " + role + " -j " + file));
        } catch (CommandLine.ParameterException e) {
            return null;
        }
    }

    /** Files with flags and topologies have one syntax. */
    @ParameterizedTest
    @CsvSource({
        "'{DOCUMENT}', true",
        "'\ufeff{DOCUMENT}', true",
        "'// comment\n{DOCUMENT}', true",
        "'\ufeff/* comment\n*/ {DOCUMENT} // end', true",
        "'{DOCUMENT} /* without an end', false",
        "'\ufeff\ufeff{DOCUMENT}', false",
        "' \ufeff{DOCUMENT}', false",
        "'# comment\n{DOCUMENT}', false",
        "'{DOCUMENT,}', false",
        "'{DOCUMENT} {}', false",
        "'', false"
    })
    void shouldReadFlagsAndTopologiesInOneSyntax(String text, boolean accepted) throws IOException {
        String whole = text.replace("\\n", "\n");
        String topology = TopologyJson.toJson(Topology.builtin()).strip();
        String flags = SERVICE.strip();
        Path card =
                Files.writeString(
                        folder.resolve("card.json"),
                        whole.replace("DOCUMENT", topology.substring(1, topology.length() - 1)));
        Path file = file(whole.replace("DOCUMENT", flags.substring(1, flags.length() - 1)));
        if (accepted) {
            assertThat(TopologyJson.read(card)).isEqualTo(Topology.builtin());
            assertThat(expanded("storage zero-copy -j " + file)).contains("--cpu=0");
        } else {
            assertThatThrownBy(() -> TopologyJson.read(card))
                    .hasMessageStartingWith("topology refused: file=" + card);
            assertThatThrownBy(() -> expanded("storage zero-copy -j " + file))
                    .isInstanceOf(CommandLine.ParameterException.class);
        }
    }
}
