package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.Affinity;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Tests of help texts: the overview, their width, and their examples. */
class HelpTest {
    /** By name: to make the tree takes longer than what is looked at in it. */
    private static final Map<String, CommandLine> COMMANDS =
            visible(SoftDpu.commandLine())
                    .collect(
                            Collectors.toMap(
                                    one -> one.getCommandSpec().qualifiedName(),
                                    Function.identity(),
                                    (first, second) -> first,
                                    LinkedHashMap::new));

    @TempDir Path folder;

    private static Stream<CommandLine> visible(CommandLine group) {
        return Stream.concat(
                Stream.of(group),
                group.getSubcommands().values().stream()
                        .filter(one -> !one.getCommandSpec().usageMessage().hidden())
                        .flatMap(HelpTest::visible));
    }

    private static Stream<String> commands() {
        return COMMANDS.keySet().stream();
    }

    private static CommandLine find(String qualifiedName) {
        return Objects.requireNonNull(COMMANDS.get(qualifiedName));
    }

    /** The example command lines of a command, with continued lines joined. */
    private static List<String> examplesOf(CommandLine command) {
        List<String> examples = new ArrayList<>();
        String begun = "";
        for (String line : command.getCommandSpec().usageMessage().footer()) {
            String whole = begun + line.strip();
            if (whole.endsWith("\\")) {
                begun = whole.substring(0, whole.length() - 1);
            } else {
                examples.add(whole);
                begun = "";
            }
        }
        return examples;
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldShowExamplesThatTheCommandAccepts(String command) throws IOException {
        List<String> examples = examplesOf(find(command));

        assertThat(examples).isNotEmpty();
        for (String example : examples) {
            String plain = example.replaceFirst("^source <\\((.*)\\)$", "$1");
            assertThat(plain).startsWith("softdpu");
            String[] words =
                    plain.substring("softdpu".length())
                            .strip()
                            .replace("flags.json", flagsOf(command).toString())
                            .replace("--cpu 0,1", "--cpu " + processors())
                            .split(" +");
            CommandLine tree = SoftDpu.commandLine(words);
            ParseResult parsed =
                    tree.parseArgs(FlagFileArguments.expand(tree, words)); // or it throws
            assertThat(parsed.asCommandLineList().getLast().getCommandSpec().qualifiedName())
                    .as(example)
                    .startsWith(command);
        }
    }

    /** Two processors as an example names them; one twice where this process has no other. */
    private static String processors() {
        BitSet allowed = Affinity.allowed();
        return allowed.nextSetBit(0) + "," + (allowed.length() - 1);
    }

    /** A file with the flags that a storage program needs, as its example may name it. */
    private Path flagsOf(String command) throws IOException {
        String flags =
                switch (command) {
                    case "softdpu storage target" ->
                            "'device': 't0', 'listen-port': 0, 'volume': 'memory:1MiB'";
                    case "softdpu storage initiator" ->
                            "'device': '0b:00.0', 'execution-strategy': 'read_throughput_test'";
                    default ->
                            "'device': '03:00.0', 'representor': '0b:00.0',"
                                    + " 'storage-server': '127.0.0.1:12345'";
                };
        String text = "{'doca_program_flags': {'cpu': 0, " + flags + "}}";
        return Files.writeString(folder.resolve("flags"), text.replace('\'', '"'));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldFitIntoEightyColumns(String command) {
        assertThat(find(command).getUsageMessage().lines()).allMatch(line -> line.length() <= 80);
    }

    /** The other commands are not made, and the one is as in the whole tree. */
    @ParameterizedTest
    @MethodSource("commands")
    void shouldShowTheSeparatorOfValuesAndNoPattern(String command) {
        assertThat(find(command).getUsageMessage()).doesNotContain("(?").doesNotContain("$)");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldMakeOnlyTheCommandThatIsNamedFirst(String command) {
        String[] words = command.split(" ");
        String[] arguments = Arrays.copyOfRange(words, 1, words.length);
        CommandLine found = SoftDpu.commandLine(arguments);
        boolean needsAll = List.of("", "help", "completion").contains(String.join(" ", arguments));
        assertThat(found.getSubcommands()).hasSize(needsAll ? allCommands() : 1);
        for (String name : arguments) {
            found = Objects.requireNonNull(found.getSubcommands().get(name));
        }
        assertThat(found.getUsageMessage()).isEqualTo(find(command).getUsageMessage());
    }

    @Test
    void shouldMakeAllCommandsIfNoneIsNamedFirst() {
        for (String first : List.of("-q", "device", "--", "Devices")) {
            assertThat(SoftDpu.commandLine(first, "devices").getSubcommands())
                    .hasSize(allCommands());
        }
    }

    private static int allCommands() {
        return find("softdpu").getSubcommands().size();
    }

    /** A shell reads a line of an example as a command: it ends where the example ends it. */
    @ParameterizedTest
    @MethodSource("commands")
    void shouldBreakNoExampleAtAnyWidth(String command) {
        for (int columns : new int[] {HelpWidth.MIN_COLUMNS, 60, HelpWidth.DEFAULT_COLUMNS}) {
            CommandLine found = find(command).setUsageHelpWidth(columns);

            assertThat(found.getUsageMessage().lines())
                    .as("width %d", columns)
                    .containsSubsequence(found.getCommandSpec().usageMessage().footer());
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldOfferTheTopologyWhereverACardIsUsed(String command) {
        CommandLine found = find(command);
        boolean usesCard =
                found.getSubcommands().isEmpty()
                        && !List.of(
                                        "softdpu help",
                                        "softdpu completion",
                                        "softdpu docs",
                                        "softdpu doctor",
                                        "softdpu packets",
                                        "softdpu storage volume")
                                .contains(command);
        if (usesCard) {
            assertThat(found.getCommandSpec().findOption("--topology")).isNotNull();
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldOfferTheProviderWhereverRdmaIsUsed(String command) {
        CommandLine found = find(command);
        boolean usesRdma =
                List.of(
                                        "softdpu demo",
                                        "softdpu caps",
                                        "softdpu perf rdma",
                                        "softdpu storage target",
                                        "softdpu storage zero-copy")
                                .contains(command)
                        || (command.startsWith("softdpu sample rdma-")
                                && !command.endsWith("-pingpong")); // roce alone has parameters

        assertThat(found.getCommandSpec().findOption("--provider") != null).isEqualTo(usesRdma);
        if (usesRdma) {
            assertThat(found.getUsageMessage().replaceAll("\\s+", " "))
                    .contains("--provider=auto|NAME The RDMA provider, shm for example")
                    .contains("SOFTDPU_RDMA_PROVIDER");
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldOfferTheOptionsOfTheNetworkWhereverRdmaIsUsedAndNotOnlyListed(String command) {
        CommandLine found = find(command);
        boolean isForRdma =
                found.getCommandSpec().findOption("--provider") != null
                        && !command.equals("softdpu caps");

        assertThat(found.getCommandSpec().findOption("--impair") != null).isEqualTo(isForRdma);
        assertThat(found.getCommandSpec().findOption("--pcap") != null).isEqualTo(isForRdma);
    }

    @Test
    void shouldPrintTheOverviewWithoutACommandTheMostUsefulFirst() {
        StringWriter out = new StringWriter();
        CommandLine command = SoftDpu.commandLine().setOut(new PrintWriter(out));

        assertThat(command.execute()).isZero();

        List<String> listed =
                out.toString()
                        .lines()
                        .dropWhile(line -> !line.equals("Commands:"))
                        .skip(1)
                        .takeWhile(line -> !line.isBlank())
                        .filter(line -> line.matches("  [a-z].*"))
                        .map(line -> line.strip().split(" ")[0])
                        .toList();
        assertThat(listed)
                .startsWith("demo")
                .contains("sample", "storage", "docs", "completion", "help");
        assertThat(out.toString()).contains("Exit codes:").contains("Examples:");
    }

    @Test
    void shouldListEachExitCode() {
        assertThat(SoftDpu.commandLine().getCommandSpec().usageMessage().exitCodeList())
                .containsOnlyKeys(
                        Arrays.stream(ExitCode.values())
                                .map(code -> Integer.toString(code.code()))
                                .toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({
        "'', 0, 80",
        "'', 132, 132",
        "'', 20, 55",
        "100, 0, 100",
        "100, 132, 100",
        "1, 0, 55",
        "99999, 0, 1000",
        "wide, 132, 132",
        "-5, 0, 80"
    })
    void shouldBeAsWideAsTheTerminal(String named, int terminal, int expected) {
        OptionalInt columns = terminal == 0 ? OptionalInt.empty() : OptionalInt.of(terminal);

        assertThat(HelpWidth.columns(Map.of("COLUMNS", named), () -> columns)).isEqualTo(expected);
    }

    @Test
    void shouldUseTheWidthThatItHas() {
        CommandLine command = SoftDpu.commandLine();
        command.setUsageHelpWidth(200);
        assertThat(
                        Arrays.stream(
                                command.getSubcommands().get("demo").getUsageMessage().split("\n")))
                .anyMatch(line -> line.length() > 100);
    }
}
