package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.samples.Sample;
import io.softdpu.samples.SampleOption;
import io.softdpu.samples.Samples;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests of the samples as commands: names, options and exit codes. */
@ExtendWith(OwnFabric.class)
class SampleCommandTest {

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine command =
                SoftDpu.commandLine(arguments)
                        .setOut(new PrintWriter(out, true))
                        .setErr(new PrintWriter(err, true));
        return command.execute(arguments);
    }

    private ChildProcess command(Processes processes, String seed, String... arguments) {
        JavaCommand java =
                JavaCommand.ofClass(SoftDpu.class)
                        .withEnvironment("SOFTDPU_FABRIC", folder.resolve("fabric").toString())
                        .withArguments(arguments);
        return processes.start(
                seed.isEmpty() ? java : java.withEnvironment("SOFTDPU_SANITIZE", seed));
    }

    @Test
    void shouldListAllWithASentence() {
        assertThat(run("sample", "--list")).isZero();
        for (Sample sample : Samples.all()) {
            assertThat(out.toString()).contains(sample.name(), sample.summary());
        }
        assertThat(run("sample", "--help")).isZero();
        assertThat(out.toString()).contains("pe-multi-context", "Copies 16 times by DMA jobs");
    }

    private static Stream<String> namesOf(Sample sample) {
        return sample.options().stream().map(SampleOption::longName);
    }

    private static Set<String> namesOfAll() {
        return Samples.all().stream()
                .flatMap(SampleCommandTest::namesOf)
                .collect(Collectors.toSet());
    }

    @Test
    void shouldTellTheOptionsOfEach() {
        for (Sample sample : Samples.all()) {
            out.getBuffer().setLength(0);
            assertThat(run("sample", sample.name(), "--help")).isZero();
            assertThat(out.toString()).startsWith("Usage: softdpu sample " + sample.name());
            String help = out.toString();
            for (String name : namesOfAll()) {
                assertThat(Pattern.compile("--" + name + "[= ]").matcher(help).find())
                        .as("%s of %s", name, sample.name())
                        .isEqualTo(namesOf(sample).anyMatch(name::equals));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cc-ctrl-path-server",
                "cc-ctrl-path-client",
                "cc-data-path-high-speed-server",
                "cc-data-path-high-speed-client"
            })
    @Clause({"cc-168", "cc-169", "cc-172"})
    void shouldShowTheFlagsOfAChannelSampleInItsHelp(String name) {
        assertThat(run("sample", name, "-h")).isZero();
        assertThat(out.toString())
                .startsWith("Usage: softdpu sample " + name)
                .contains("-p, --pci-addr=ADDRESS", "-r, --rep-pci=ADDRESS", "-t, --text=TEXT")
                .contains("-h, --help", "  softdpu sample " + name + " \\");
    }

    @Test
    @StartsProcesses
    @Clause("cc-170")
    void shouldRequireTheRepresentorOnTheDpuAlone(Processes processes) {
        for (String pair : List.of("cc-ctrl-path", "cc-data-path-high-speed")) {
            err.getBuffer().setLength(0);
            assertThat(run("sample", pair + "-server", "-p", "03:00.0"))
                    .isEqualTo(ExitCode.USAGE.code());
            assertThat(err.toString())
                    .startsWith("softdpu: value is missing: option=--rep-pci, expected=--rep-pci=");
        }
        ChildProcess server =
                command(processes, "", "sample", "cc-ctrl-path-server", "-r", "0b:00.0");
        ChildProcess client = command(processes, "", "sample", "cc-ctrl-path-client");
        assertThat(client.awaitExit()).isZero();
        assertThat(server.awaitExit()).isZero();
    }

    @Test
    @StartsProcesses
    @Clause({"cc-169", "cc-171"})
    void shouldWorkOnTheNamedDevicesWithTheNamedTexts(Processes processes) {
        ChildProcess server =
                command(
                        processes,
                        "",
                        ("sample cc-ctrl-path-server -p 03:00.1 -r 0b:00.1 -t Hello,host")
                                .split(" "));
        ChildProcess client =
                command(
                        processes,
                        "",
                        ("sample cc-ctrl-path-client -p 0b:00.1 -r 0b:00.1 -t Hello,DPU")
                                .split(" "));
        assertThat(client.awaitExit()).as("%s", client.errorLines()).isZero();
        assertThat(server.awaitExit()).as("%s", server.errorLines()).isZero();
        assertThat(server.outputLines())
                .contains("connected: function=host/pf1", "received: bytes=9, text=Hello,DPU");
        assertThat(client.outputLines()).contains("received: bytes=10, text=Hello,host");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync-event-host", "sync-event-dpu"})
    @Clause({"core-206", "core-209", "core-211"})
    @Clause({"core-212", "core-213"})
    void shouldShowTheFlagsOfASyncEventSampleInItsHelp(String name) {
        assertThat(run("sample", name, "-h")).isZero();
        assertThat(out.toString())
                .startsWith("Usage: softdpu sample " + name)
                .contains("-d, --dev-pci-addr=ADDRESS", "--async ", "--qdepth=N", "--atomic ")
                .contains("-h, --help", "-v, -V, --version", "-l, --log-level=LEVEL");
        assertThat(out.toString().contains("-r, --rep-pci-addr=ADDRESS"))
                .isEqualTo(name.endsWith("dpu"));
    }

    @ParameterizedTest
    @CsvSource({
        "rdma-read-requester,-m,none",
        "rdma-read-responder,-m,-r|--read-string",
        "rdma-write-requester,-m,-w|--write-string",
        "rdma-write-responder,-m,none",
        "rdma-write-immediate-requester,-m,-w|--write-string",
        "rdma-write-immediate-responder,-m,none",
        "rdma-send,none,-s|--send-string",
        "rdma-receive,none,none",
        "rdma-send-immediate,none,-s|--send-string",
        "rdma-receive-immediate,none,none",
        "rdma-sync-event-requester,-m,none",
        "rdma-sync-event-responder,-m,none"
    })
    @Clause({"rdma-202", "rdma-206", "rdma-210"})
    @Clause({"rdma-207", "rdma-208", "rdma-209"})
    void shouldShowTheFlagsOfAnRdmaSampleInItsHelp(String name, String mmap, String text) {
        assertThat(run("sample", name, "-h")).isZero();
        String help = out.toString();
        assertThat(help)
                .startsWith("Usage: softdpu sample " + name)
                .contains("-d, --device=DEVICE", "-g, --gid-index=N", "-h, --help")
                .contains("-ld, --local-descriptor-path=FILE")
                .contains("-re, --remote-descriptor-path=FILE")
                .contains("--use-rdma-cm ", "--port=PORT")
                .containsPattern("    -ld /tmp/\\w+ -re /tmp/\\w+")
                .containsPattern("\n    --use-rdma-cm( --address 127.3.0.1)?( -m /tmp/\\w+)?\n");
        assertThat(help.contains("--address=ADDRESS"))
                .isEqualTo(name.endsWith("requester") || name.startsWith("rdma-send"));
        assertThat(help.contains("    --use-rdma-cm --address 127.3.0.1"))
                .isEqualTo(help.contains("--address=ADDRESS"));
        assertThat(help.contains("-m, --mmap-descriptor-path=FILE")).isEqualTo(mmap.equals("-m"));
        for (String flag : List.of("-r|--read-string", "-s|--send-string", "-w|--write-string")) {
            assertThat(help.contains(flag.replace("|", ", ") + "=STRING"))
                    .as("%s of %s", flag, name)
                    .isEqualTo(flag.equals(text));
        }
        if (!text.equals("none")) {
            assertThat(help.replaceAll("\\s+", " ")).contains("(default: \"Hi DOCA RDMA!\")");
        }
    }

    /** Connection descriptors are needed without connections by address alone. */
    @ParameterizedTest
    @CsvSource({
        "-re r -m m,--local-descriptor-path,USAGE",
        "-ld l -m m,--remote-descriptor-path,USAGE",
        "-ld l -re r,--mmap-descriptor-path,USAGE",
        "--use-rdma-cm,--mmap-descriptor-path,USAGE"
    })
    @Clause({"rdma-203", "rdma-204", "rdma-205"})
    void shouldRequireTheFilesOfAnRdmaSample(String given, String missing, ExitCode exit) {
        Run sample = Run.ofWords("sample rdma-read-responder " + given);
        assertThat(sample.exit()).isEqualTo(exit.code());
        assertThat(sample.errorLines().getFirst()).contains("value is missing: option=" + missing);
    }

    /** On one machine each may name the file that the other writes. */
    @Test
    @StartsProcesses
    @Clause({"rdma-203", "rdma-204", "rdma-205"})
    @Clause({"rdma-202", "rdma-206", "rdma-207"})
    void shouldReadByRdmaWithTheShortFlags(Processes processes) {
        ChildProcess responder =
                command(
                        processes,
                        "",
                        arguments(
                                "sample rdma-read-responder -d mlx5_0 -g 0",
                                List.of("-ld", at("b"), "-re", at("a"), "-m", at("m"), "-r", "x")));
        ChildProcess requester =
                command(
                        processes,
                        "",
                        arguments(
                                "sample rdma-read-requester -d mlx5_1 -g 1",
                                List.of("-ld", at("a"), "-re", at("b"), "-m", at("m"))));
        assertThat(requester.awaitExit()).as("%s", requester.errorLines()).isZero();
        assertThat(responder.awaitExit()).as("%s", responder.errorLines()).isZero();
        assertThat(requester.outputLines()).contains("read: bytes=1, text=x");
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync-event-host", "sync-event-dpu"})
    @Clause("core-207")
    void shouldPrintItsVersionAndNothingElse(String name) {
        for (String flag : List.of("-v", "--version")) {
            out.getBuffer().setLength(0);
            assertThat(run("sample", name, flag)).isZero();
            assertThat(out.toString()).startsWith("softdpu " + Version.number());
        }
    }

    @Test
    @Clause("core-210")
    void shouldRequireTheRepresentorForASyncEventOnTheDpuAlone() {
        assertThat(run("sample", "sync-event-dpu", "-d", "03:00.0"))
                .isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).startsWith("softdpu: value is missing: option=--rep-pci-addr");
        err.getBuffer().setLength(0);
        assertThat(run("sample", "sync-event-host", "-r", "0b:00.0"))
                .isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).startsWith("softdpu: no such option: option=-r");
    }

    /** The mode of an event is a line of level 60 alone. */
    @Test
    @StartsProcesses
    @Clause({"core-208", "core-209", "core-216"})
    void shouldLogTheModeOfASyncEventAtItsLevel(Processes processes) {
        for (List<String> levels :
                List.of(List.of("20", "30"), List.of("40", "50"), List.of("60", "debug"))) {
            List<ChildProcess> both = signals(processes, levels);
            for (ChildProcess each : both) {
                // A busy machine may have the warning of a long stop beside it.
                List<String> modes =
                        each.errorLines().stream()
                                .filter(line -> line.contains("event started: "))
                                .toList();
                assertThat(modes)
                        .as("levels %s: %s", levels, each.errorLines())
                        .hasSize(levels.contains("60") ? 1 : 0)
                        .allMatch(line ->
                                line.endsWith(
                                        "event started: mode=asynchronous, depth=8,"
                                                + " atomic=true"));
            }
        }
        for (String name : List.of("sync-event-host", "sync-event-dpu")) {
            err.getBuffer().setLength(0);
            assertThat(run("sample", name, "-l", "55")).isEqualTo(ExitCode.USAGE.code());
            assertThat(err.toString())
                    .startsWith("softdpu: no such log level: option=--log-level, level=55");
        }
    }

    /** Runs both to their good end, the DPU first, each with a log level of its own. */
    private List<ChildProcess> signals(Processes processes, List<String> levels) {
        List<String> mode = List.of("--async", "--qdepth", "8", "--atomic");
        ChildProcess dpu =
                command(
                        processes,
                        "",
                        arguments(
                                "sample sync-event-dpu -d 03:00.0 -r 0b:00.0 -l "
                                        + levels.getFirst(),
                                mode));
        dpu.awaitLine("^waiting for sync-event-host$");
        ChildProcess host =
                command(
                        processes,
                        "",
                        arguments(
                                "sample sync-event-host -d 0b:00.0 -l " + levels.getLast(), mode));
        assertThat(host.awaitExit()).as("%s: %s", levels, host.errorLines()).isZero();
        assertThat(dpu.awaitExit()).as("%s: %s", levels, dpu.errorLines()).isZero();
        assertThat(host.outputLines()).endsWith("signalled: value=1", "waited: value=2");
        assertThat(dpu.outputLines()).endsWith("waited: value=1", "signalled: value=2");
        return List.of(host, dpu);
    }

    private static String[] arguments(String command, List<String> options) {
        return Stream.concat(Stream.of(command.split(" ")), options.stream())
                .toArray(String[]::new);
    }

    @Test
    void shouldRefuseATextThatTheDeviceCannotSend() {
        Run sample = Run.of("sample", "cc-ctrl-path-client", "-t", "");
        assertThat(sample.exit()).isEqualTo(ExitCode.USAGE.code());
        assertThat(sample.errorLines().getFirst())
                .startsWith(
                        "softdpu: length of the text is illegal: option=--text, lengthBytes=0,"
                                + " expected=1 to 4080");
    }

    /** A usage error has a reason, and no status. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sample|command is missing: expected=one of dma-copy-host",
                "sample pe-nothing|no such command: command=pe-nothing, expected=one of",
                "sample pe-polling --text=x|no such option: option=--text=x, expected=an option of",
                "sample pe-polling --timeout=0|time is illegal: option=--timeout, seconds=0,"
                        + " expected=",
                "sample rdma-send --use-rdma-cm --port=x --address=127.0.0.1|not a port:"
                        + " option=--port, port=x, expected=1 to 65535",
                "sample rdma-send --use-rdma-cm --port=0 --address=127.0.0.1|not a port:",
                "sample rdma-send --use-rdma-cm --address=here|not an address: option=--address,",
                "sample rdma-send --port=1|option belongs to another way to connect: option=--port",
                "sample sync-event-dpu --rep-pci-addr=0b:00.0 --qdepth=1|only the asynchronous mode"
                        + " has a work queue:",
                "sample sha --text=a --file=b|either a file or a text: option=--file, file=b,"
                        + " text=a",
                "sample pe-polling --timeout=soon|time is illegal: option=--timeout, seconds=soon,"
            })
    void shouldRefuseWhatItDoesNotKnow(String line, String reason) {
        assertThat(run(line.split(" "))).isEqualTo(ExitCode.USAGE.code());
        assertThat(err.toString()).startsWith("softdpu: " + reason);
    }

    @Test
    void shouldFailWithTheErrorOfTheSample() {
        Run sample = Run.of("sample", "pe-polling", "--device=nothing");
        assertThat(sample.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(sample.errorLines()).anyMatch(line -> line.startsWith("softdpu: NOT_FOUND: "));
    }

    /** The digest of the standard's example. */
    @Test
    @Smoke
    void shouldPrintTheDigestOfAText(Processes processes) {
        ChildProcess sample = command(processes, "", "sample", "sha", "--text", "abc");
        assertThat(sample.awaitExit()).as("%s", sample.errorLines()).isZero();
        assertThat(sample.outputLines())
                .containsExactly(
                        "whole: bytes=3, sha256="
                            + "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                        "not hashed in parts, since it is no longer than a block: bytes=3,"
                                + " blockBytes=64");
    }

    /** The seed is that of the environment. */
    @Test
    @StartsProcesses
    void shouldCopyBetweenTwoProcessesUnderTheSanitizer(Processes processes, SeededRandom random) {
        String seed = Long.toString(random.between(1, 1_000_000));
        ChildProcess dpu = command(processes, seed, "sample", "dma-copy-dpu");
        ChildProcess host = command(processes, seed, "sample", "dma-copy-host", "--text", "hello");
        assertThat(host.awaitExit()).as("seed %s", seed).isZero();
        assertThat(dpu.awaitExit()).as("seed %s", seed).isZero();
        assertThat(dpu.outputLines()).contains("text: hello");
        for (ChildProcess each : List.of(host, dpu)) { // each report has its seed
            assertThat(each.errorLines()).noneMatch(line -> line.contains("seed="));
        }
    }
}
