package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.testkit.Clause;
import io.softdpu.topology.json.TopologyJson;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** Tests of the command line that need no further process. */
class UsageTest {
    private static final String TARGET = "storage target -d t0 --cpu any --listen-port 0 ";
    private static final String SERVICE =
            "storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu 0 --storage-server ";
    private static final String INITIATOR = "storage initiator -d 0b:00.0 --cpu 0 ";

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @AfterEach
    void restoreLogLevel() {
        Logging.setLevel(LogLevel.WARNING);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "demo",
                "devices",
                "topology",
                "caps",
                "storage",
                "storage target",
                "storage zero-copy",
                "storage initiator",
                "docs"
            })
    @Clause({"sto-025", "sto-026"})
    void shouldShowHelpAndVersionOfEachCommand(String command) {
        String help = shown(command + " -h");
        assertThat(help).startsWith("Usage: softdpu " + command);
        assertThat(shown(command + " --help")).isEqualTo(help);
        String version = shown(command + " -v");
        assertThat(version).startsWith("softdpu 0.1.0").contains("Java 25");
        assertThat(shown(command + " -V")).isEqualTo(version);
        assertThat(shown(command + " --version")).isEqualTo(version);
        assertThat(shown("help " + command)).isEqualTo(help);
    }

    @ParameterizedTest
    @CsvSource({"perf comch, rate", "completion, bash"})
    void shouldShowTheHelpOfACommandThatIsNamedWithItsParameters(
            String command, String parameters) {
        assertThat(shown("help " + command + " " + parameters))
                .startsWith("Usage: softdpu " + command)
                .isEqualTo(shown(command + " --help"));
    }

    /** The output of a command that succeeds without an error. */
    private String shown(String arguments) {
        out.getBuffer().setLength(0);
        assertThat(run(arguments)).isEqualTo(0);
        assertThat(err.toString()).isEmpty();
        return out.toString();
    }

    @Test
    void shouldNotEndWellWhereItsOutputWasLost() {
        OutputStream full =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("No space left on device");
                    }
                };
        PrintStream lost = new PrintStream(full, true);
        lost.println("a result");
        PrintStream fine = new PrintStream(OutputStream.nullOutputStream());
        PrintWriter errors = new PrintWriter(err);

        assertThat(SoftDpu.checkOutput(0, fine, false, errors)).isEqualTo(0);
        assertThat(SoftDpu.checkOutput(3, lost, false, errors)).isEqualTo(3);
        assertThat(SoftDpu.checkOutput(0, fine, true, errors)).isEqualTo(0);
        assertThat(SoftDpu.checkOutput(3, lost, true, errors)).isEqualTo(3);
        assertThat(SoftDpu.checkOutput(0, lost, true, errors))
                .isEqualTo(ExitCode.PIPE_CLOSED.code());
        assertThat(err.toString()).isEmpty();
        assertThat(SoftDpu.checkOutput(0, lost, false, errors)).isEqualTo(ExitCode.FAILED.code());
        assertThat(err.toString()).startsWith("softdpu: IO_FAILED: ").contains("standard output");
    }

    @Test
    void shouldHideFromHelpWhatOnlyAParentUses() {
        run("storage initiator -h");

        assertThat(out.toString())
                .contains("--control-timeout")
                .contains("--max-memory=SIZE")
                .contains("(--execution-strategy=STRATEGY)")
                .doesNotContain("--exit-with-parent")
                .doesNotContain("--report")
                .doesNotContain("--phase");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "storage|command is missing: expected=one of target, zero-copy, initiator,"
                        + " volume",
                "sample nosuch|no such command: command=nosuch, expected=one of"
                        + " dma-copy-host, dma-copy-dpu, cc-ctrl-path-server,",
                "demo --blok|no such option: option=--blok, expected=an option of `softdpu demo`;"
                        + " did you mean --block-size?",
                "demo --jsno -|no such option: option=--jsno, expected=an option of `softdpu demo`;"
                        + " did you mean --json?",
                "storage initiator --exit-with-parnt -d x|option=--exit-with-parnt, expected=an"
                        + " option of `softdpu storage initiator`",
                "dmo|no such command: command=dmo, expected=one of demo, doctor, sample,",
                "target|command=target, expected=one of demo, doctor, sample, storage, perf,"
                        + " devices, topology, caps, packets, docs, completion, help; did you mean"
                        + " `softdpu storage target`?",
                "help storage targt|no such command: command=targt, expected=one of target,"
                        + " zero-copy, initiator, volume; did you mean target?",
                "help demo now|no such command: command=now, expected=no command of `softdpu demo`",
                "help perf comch rate now|no such command: command=rate, expected=no command of"
                        + " `softdpu perf comch`",
                "devices -q -l info|options exclude each other: options=[--log-level, --quiet]",
                "completion fish|value is illegal: argument=bash|zsh, value=fish,"
                        + " expected=bash|zsh",
                "demo --size 5000|option=--size, sizeBytes=5000, expected=a multiple of"
                        + " --block-size=4096",
                "demo --repeat 0|number of runs is illegal: option=--repeat, repeat=0, expected=1"
                        + " to",
                "demo --cores 0|number of cores is illegal: option=--cores, cores=0, expected=1 to"
                        + " 64",
                "demo --cores 65|number of cores is illegal: option=--cores, cores=65,",
                "demo --separate-folders --provider shm|option=--separate-folders, provider=shm,"
                        + " expected=--provider roce, or no --separate-folders",
                "demo --size 8K --cores 3|volume has fewer blocks than there are cores:"
                        + " option=--cores, cores=3, expected=1 to 2",
                "demo --size 0|size is zero: option=--size, size=0, expected=bytes, or",
                "demo --size 64Q|not a size: option=--size, size=64Q",
                "demo --block-size 5000|option=--block-size, sizeBytes=5000, expected=a power of"
                        + " two",
                "demo --block-size 256|option=--block-size, sizeBytes=256, expected=a power of two",
                "demo --seconds 0|time is illegal: option=--seconds, seconds=0",
                "demo --volume a --size 1M|options=[--volume, --size], expected=",
                "demo --json /no/such/folder/a.json|option=--json, file=/no/such/folder/a.json",
                "demo -l loud|no such log level: option=--log-level, level=loud",
                "devices --side moon|no such side: option=--side, side=moon, available=[host, dpu,"
                        + " target]",
                "storage target|values are missing: options=[--device, --cpu, --listen-port],"
                        + " expected=--device=DEVICE --cpu=N|prefer:N|any --listen-port=PORT",
                "storage initiator -d x --cpu 0|value is missing: option=--execution-strategy,"
                        + " expected=--execution-strategy=STRATEGY",
                INITIATOR
                        + "--execution-strategy fast|option=--execution-strategy,"
                        + " executionStrategy=fast",
                INITIATOR
                        + "--execution-strategy read_throughput_test --transaction-count 100000"
                        + "|option=--transaction-count, transactions=100000, expected=1 to",
                "perf comch rate --window 0|option=--window, window=0, expected=1 to 8192",
                "perf comch rate --size 2GiB|option=--size, size=2GiB, measurement=rate, expected=1"
                        + " to 1536MiB",
                "perf comch rate --producers 65|option=--producers, producers=65, expected=1 to 64",
                INITIATOR
                        + "--execution-strategy fast --phase read"
                        + "|options exclude each other: options=[--execution-strategy, --phase],"
                        + " expected=one of them",
                INITIATOR
                        + "--execution-strategy fast --execution-strategy fast"
                        + "|option is given twice: option=--execution-strategy, expected=one value",
                INITIATOR + "--execution-strategy read_only_data_validity_test|plain",
                INITIATOR
                        + "--execution-strategy read_throughput_test --transaction-count 0"
                        + "|option=--transaction-count, value=0",
                INITIATOR
                        + "--execution-strategy read_throughput_test --max-memory much"
                        + "|not a size: option=--max-memory, size=much",
                INITIATOR
                        + "--execution-strategy read_throughput_test --wait event"
                        + "|no such way to wait: option=--wait, wait=event, expected=adaptive or"
                        + " busy",
                TARGET
                        + "--volume memory:1M --binary-content f"
                        + "|options exclude each other: options=[--volume, --binary-content],"
                        + " expected=one of them",
                TARGET
                        + "--volume memory:1M --block-count 256"
                        + "|options exclude each other: options=[--volume, --block-count]",
                TARGET
                        + "--block-count 0|number of blocks is illegal: option=--block-count,"
                        + " blockCount=0, expected=1 to 4294967295",
                TARGET
                        + "--block-count many|value is illegal: option=--block-count, value=many,"
                        + " expected=a whole number",
                TARGET + "--block-count 4294967296|option=--block-count, blockCount=4294967296",
                TARGET
                        + "--listen-address localhost|not an IP address: option=--listen-address,"
                        + " address=localhost, expected=a numeric one",
                TARGET + "--listen-address 1.2.3|not an IP address: option=--listen-address",
                INITIATOR
                        + "--execution-strategy read_throughput_test --local-io-region-size -1"
                        + "|not a size: option=--local-io-region-size, size=-1",
                TARGET + "--volume memory:none|not a size: option=--volume, size=none",
                TARGET
                        + "--volume memory:1000|option=--volume, sizeBytes=1000, expected=a"
                        + " multiple of",
                "storage target --listen-port 1 --volume a --cpu any -d"
                        + "|value is missing: option=--device, expected=--device=DEVICE",
                "storage target --listen-port many"
                        + "|value is illegal: option=--listen-port, value=many, expected=a whole"
                        + " number",
                "topology here|argument is not expected: argument=here, expected=no further",
                "perf comch|value is missing: argument=latency|rate|bandwidth|control|idle,"
                        + " expected=",
                "perf comch fast|no such measurement: measurement=fast",
                SERVICE
                        + "127.0.0.1|storage server is illegal: option=--storage-server,"
                        + " storageServer=127.0.0.1, expected=",
                SERVICE
                        + "127.0.0.1:1 --storage-server 127.0.0.1:2"
                        + "|option is given twice: option=--storage-server, expected=one value",
                "storage target -d t0 --cpu 0 --volume memory:1M --listen-port 65536"
                        + "|port=65536, expected=0 to 65535",
                SERVICE + "127.0.0.1:1 --cpu 1,|option=--cpu, ",
                SERVICE + "127.0.0.1:1 --cpu ,|option=--cpu, ",
                SERVICE + "127.0.0.1:1 --cpu 1,,2|option=--cpu, ",
                SERVICE + "127.0.0.1:1 --cpu x|option=--cpu, "
            })
    void shouldRefuseACommandLineAndSayWhatWasExpected(String arguments, String reason) {
        assertThat(run(arguments == null ? "" : arguments)).isEqualTo(ExitCode.USAGE.code());

        assertThat(err.toString().lines().findFirst().orElseThrow())
                .startsWith("softdpu: ")
                .doesNotContain("INVALID_VALUE")
                .contains(reason);
        assertThat(err.toString()).doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "storage target --cpu 0,prefer:1 -d t0 --listen-port 0 --volume memory:1M",
                "storage zero-copy --cpu 0,prefer:1 -d p0 -r hpf0 --storage-server 127.0.0.1:1",
                "storage initiator --cpu 0,prefer:1 -d pf0"
                        + " --execution-strategy read_throughput_test"
            })
    @Clause("sto-040")
    void shouldTakeCoresInAListAndByFurtherOptionsInTheirOrder(String arguments) {
        String[] words = (arguments + " --cpu any --cpu 7,0").split(" ");

        ParseResult role = SoftDpu.commandLine(words).parseArgs(words).subcommand().subcommand();

        RoleCommand command = (RoleCommand) role.commandSpec().userObject();
        command.checkOptions();
        assertThat(command.cpus())
                .extracting(CpuBinding::toString)
                .containsExactly("0", "prefer:1", "any", "7", "0");
    }

    /** None is empty: for off, and below a parent. */
    @ParameterizedTest
    @CsvSource({
        "'', PT1S, PT10S",
        "--progress 0.25, PT0.25S, PT0.25S",
        "--progress off, , ",
        "--exit-with-parent, , ",
        "--exit-with-parent --progress 0.25, , "
    })
    void shouldHaveAnIntervalOfProgress(
            String arguments, @Nullable Duration onTerminal, @Nullable Duration inLog) {
        for (String role :
                List.of(
                        TARGET + "--volume memory:1M ",
                        SERVICE + "127.0.0.1:1 ",
                        INITIATOR + "--execution-strategy read_throughput_test ")) {
            String[] words = (role + arguments).split(" ");

            ParseResult parsed =
                    SoftDpu.commandLine(words).parseArgs(words).subcommand().subcommand();

            RoleCommand command = (RoleCommand) parsed.commandSpec().userObject();
            assertThat(command.progressInterval(true)).as(role).isEqualTo(onTerminal);
            assertThat(command.progressInterval(false)).as(role).isEqualTo(inLog);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                TARGET + "--volume memory:1M ",
                SERVICE + "127.0.0.1:1 ",
                INITIATOR + "--execution-strategy read_throughput_test "
            })
    void shouldRefuseMoreThan64Cores(String arguments) {
        String cores = "--cpu " + String.join(",", Collections.nCopies(64, "any"));
        assertThat(run(arguments + cores)).isEqualTo(ExitCode.USAGE.code());

        assertThat(err.toString())
                .startsWith("softdpu: too many cores: option=--cpu, cores=65, expected=1 to 64");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.0.0.1:99999",
                "127.0.0.1:1,127.0.0.1:2",
                "127.0.0.1:1 --storage-server 127.0.0.1:2"
            })
    @Clause("sto-033")
    void shouldTakeOneAddressOfTheTargetAndNothingElse(String address) {
        assertThat(run(SERVICE + address)).isEqualTo(ExitCode.USAGE.code());

        assertThat(err.toString().lines().findFirst().orElseThrow())
                .startsWith("softdpu: ")
                .contains("storage-server");
    }

    @Test
    @Clause("sto-036")
    void shouldOpenTheServiceOfTheGuidesExample() {
        String[] words =
                ("storage zero-copy -d 03:00.0 -r 3b:00.0 --storage-server 172.17.0.1:12345"
                                + " --cpu 0")
                        .split(" ");

        var read = SoftDpu.commandLine(words).parseArgs(words).subcommand().subcommand();

        assertThat(read.matchedOptions())
                .extracting(option -> option.longestName())
                .containsExactlyInAnyOrder(
                        "--device", "--representor", "--storage-server", "--cpu");
        ZeroCopyCommand command = (ZeroCopyCommand) read.commandSpec().userObject();
        command.checkOptions();
        try (Machine machine =
                Machine.builder(Side.DPU)
                        .fabricFolder(folder)
                        .topology(TopologyJson.shipped("storage-guide"))
                        .open()) {
            command.open(machine, new PeerWait()).close();
        }
    }

    @Test
    @Clause("sto-032")
    void shouldHaveNoShortFormOfTheCpu() {
        assertThat(serviceCommand().findOption("--cpu").names()).containsExactly("--cpu");
    }

    @Test
    @Clause("sto-025")
    void shouldShowEachFlagOfTheGuideInTheHelpOfTheService() {
        String help = shown("storage zero-copy --help");
        assertThat(help.lines().map(String::strip))
                .as("flags and what they mean")
                .anyMatch(line -> line.matches("-h, --help +Show this help.*"))
                .anyMatch(line -> line.matches("-v, -V, --version +Show the version.*"))
                .anyMatch(line -> line.matches("-l, --log-level=LEVEL +Log level.*"))
                .anyMatch(line -> line.matches("-d, --device=DEVICE +The device.*"))
                .anyMatch(line -> line.matches("-r, --representor=REPRESENTOR"))
                .anyMatch(line -> line.matches("--cpu=N.*"))
                .anyMatch(line -> line.matches("--storage-server=IP:PORT.*"))
                .anyMatch(line -> line.matches("--command-channel-name=NAME.*"))
                .anyMatch(line -> line.matches("--control-timeout=SECONDS.*"));
    }

    @Test
    void shouldSayWhatAWiderAddressOfTheTargetMeans() {
        assertThat(shown("storage target --help").replaceAll("\\s+", " "))
                .contains("default: 127.0.0.1, this machine alone")
                .contains("nothing is authenticated or encrypted")
                .contains("control messages carry keys");
    }

    private static CommandSpec serviceCommand() {
        return SoftDpu.commandLine()
                .getSubcommands()
                .get("storage")
                .getSubcommands()
                .get("zero-copy")
                .getCommandSpec();
    }

    @ParameterizedTest
    @CsvSource({
        "storage zero-copy -r 0b:00.0 --cpu 0 --storage-server 1.2.3.4:5,--device",
        "storage zero-copy -d 03:00.0 --cpu 0 --storage-server 1.2.3.4:5,--representor"
    })
    @Clause({"sto-030", "sto-031"})
    void shouldRefuseToRunTheServiceWithoutADeviceOrARepresentor(String arguments, String missing) {
        assertMissing(arguments, missing);
    }

    @ParameterizedTest
    @CsvSource({
        "storage zero-copy -d 03:00.0 -r 0b:00.0 --storage-server 1.2.3.4:5,--cpu",
        "storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu 0,--storage-server"
    })
    @Clause({"sto-041", "sto-042"})
    void shouldRefuseToRunTheServiceWithoutACpuOrATarget(String arguments, String missing) {
        assertMissing(arguments, missing);
    }

    private void assertMissing(String arguments, String missing) {
        assertThat(run(arguments)).isEqualTo(ExitCode.USAGE.code());

        assertThat(err.toString())
                .contains("value is missing: option=" + missing + ", expected=" + missing + "=");
    }

    @Test
    @Clause({"sto-034", "sto-035"})
    void shouldTellTheDefaultsOfTheService() {
        run("storage zero-copy --help");

        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("(default: doca_storage_comch)")
                .contains("Timeout of each control operation (default: 5)");
    }

    @Test
    @Clause("sto-027")
    void shouldShowAStackTraceOnlyAtLogLevelDebug() {
        run("devices --side moon");
        assertThat(err.toString()).doesNotContain("\tat ");

        run("topology --topology default --log-level debug");
        run("-l 60 demo --size 5000");
        assertThat(err.toString()).contains("\tat io.softdpu.cli.DemoCommand");
    }

    private int run(String arguments) {
        String[] words = arguments.isBlank() ? new String[0] : arguments.strip().split(" +");
        CommandLine command = SoftDpu.commandLine(words);
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(words);
    }
}
