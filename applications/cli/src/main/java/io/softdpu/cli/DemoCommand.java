package io.softdpu.cli;

import io.softdpu.block.memory.VolumeFile;
import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.doctor.DescriptorLimit;
import io.softdpu.cli.log.Logging;
import io.softdpu.cli.options.MeasuredConverter;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.demo.ChildOutcome;
import io.softdpu.perf.demo.DemoDevices;
import io.softdpu.perf.demo.DemoJson;
import io.softdpu.perf.demo.DemoOptions;
import io.softdpu.perf.demo.DemoPhase;
import io.softdpu.perf.demo.DemoProgress;
import io.softdpu.perf.demo.DemoResult;
import io.softdpu.perf.demo.DemoSession;
import io.softdpu.perf.demo.DemoTable;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.storage.StorageTable;
import io.softdpu.perf.text.TextStyle;
import io.softdpu.storage.StorageDefaults;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code softdpu demo}: runs the storage pipeline in three processes and measures it. */
@Command(
        name = "demo",
        description = {
            "Sends a volume through initiator, zero-copy service and target, three processes that"
                    + " this command starts: reads it all and compares, writes it all and reads it"
                    + " back, warms up, then measures.",
            "Exits with 0 only if all data was right and all three processes succeeded.",
            StorageTable.HELP,
            "Rates are in GB/s, 10^9 bytes per second.",
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu demo",
            "  softdpu demo --volume disk.img --seconds 1",
            "  softdpu demo --cores 2",
            "  softdpu demo --provider roce --separate-folders",
            "  softdpu demo --measure random-read-4k,idle --repeat 5",
            "  softdpu demo --topology storage-guide \\",
            "    --json results.json"
        })
final class DemoCommand implements Callable<Integer> {
    private static final String DEFAULT_SIZE = "64MiB";

    /** The RDMA provider that connects processes of one fabric folder. */
    private static final String OF_ONE_FOLDER = "shm";

    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable SoftDpu root;

    @Option(
            names = "--volume",
            paramLabel = "FILE",
            description =
                    "Initial content of the volume; the file is not changed (default: a pattern).")
    private @Nullable Path volume;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Size of a volume without a file (default: " + DEFAULT_SIZE + ").")
    private @Nullable Long size;

    @Option(
            names = "--block-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            defaultValue = "4096",
            description = "Size of a block, a power of two (default: ${DEFAULT-VALUE}).")
    private long blockSize;

    @Option(
            names = "--cores",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Data path threads of each of the three processes, 1 to 64; each works on its"
                            + " own part of the volume (default: ${DEFAULT-VALUE}).")
    private int cores;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "3",
            description = "Duration of each measurement (default: ${DEFAULT-VALUE}).")
    private Duration seconds = Duration.ZERO;

    @Option(
            names = "--measure",
            paramLabel = "WHAT",
            split = ",",
            converter = MeasuredConverter.class,
            description = {
                "Measurements, separated by commas (default: the first five):",
                "${COMPLETION-CANDIDATES}.",
                "paced-read-4k: a read each 2 ms. idle: connected processes without requests."
            },
            completionCandidates = MeasuredConverter.class)
    private List<DemoPhase> measured = List.of();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Runs of each measurement after the warm-up, 1 to 1000, by turns; the one with"
                            + " the median rate is printed (of an even number the lower of the two"
                            + " in the middle), and the spread (default: ${DEFAULT-VALUE}).")
    private int repeats;

    @Option(
            names = "--separate-folders",
            description =
                    "The target has a fabric folder of its own, as on another machine: service and"
                            + " target are connected over the network, by a provider other than"
                            + " shm.")
    private boolean separateFolders;

    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final ProviderOption provider = new ProviderOption();
    @Mixin private final NetworkOptions network = new NetworkOptions();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        int blockSizeBytes = BlockSize.check(command, blockSize);
        requireRepeats(command);
        long sizeBytes = sizeBytes(command, blockSizeBytes);
        requireCores(command, sizeBytes / blockSizeBytes);
        requireNetwork(command);
        DemoOptions options =
                new DemoOptions(
                        volume,
                        sizeBytes,
                        blockSizeBytes,
                        cores,
                        measured.isEmpty()
                                ? DemoPhase.measuredByDefault()
                                : EnumSet.copyOf(measured),
                        seconds.toNanos(),
                        repeats,
                        provider(command),
                        separateFolders,
                        roleArguments(),
                        DemoDevices.of(topology.load()));
        json.check(command);
        NeededMemory.require(
                "volume=" + (volume == null ? "memory:" + options.sizeBytes() : volume),
                options.neededBytes(),
                "a smaller volume");
        DescriptorLimit.require("demo", DescriptorLimit.ofRole(cores));
        JvmCommand jvm = JvmCommand.ofThisProcess(Objects.requireNonNull(root).arguments());
        DemoProgress progress =
                new DemoProgress(options, command.getErr(), Terminal.isStandardError());
        DemoSession session = new DemoSession(options, jvm, progress);
        try (SignalGuard _ = SignalGuard.on(session::interrupt)) {
            try {
                return run(session, options, progress, command);
            } catch (RuntimeException e) {
                // Here and not by picocli: after a signal the exit code does not come from picocli.
                return Errors.report(e, command.getErr()).code();
            }
        }
    }

    private ProviderChoice provider(CommandLine command) {
        try {
            return network.with(provider.choice());
        } catch (DpuException refused) {
            throw new ParameterException(command, String.valueOf(refused.getMessage()), refused);
        }
    }

    private void requireCores(CommandLine command, long blocks) {
        if (cores < 1 || cores > StorageDefaults.MAX_WORKERS) {
            throw new ParameterException(
                    command,
                    Text.format(
                            "number of cores is illegal: option=--cores, cores=%d, expected=1 to"
                                    + " %d",
                            cores, StorageDefaults.MAX_WORKERS));
        }
        if (cores > blocks) {
            throw new ParameterException(
                    command,
                    Text.format(
                            "volume has fewer blocks than there are cores: option=--cores,"
                                    + " cores=%d, expected=1 to %d",
                            cores, blocks));
        }
    }

    private void requireRepeats(CommandLine command) {
        if (repeats < 1 || repeats > DemoOptions.MAX_REPEATS) {
            throw new ParameterException(
                    command,
                    Text.format(
                            "number of runs is illegal: option=--repeat, repeat=%d, expected=1 to"
                                    + " %d",
                            repeats, DemoOptions.MAX_REPEATS));
        }
    }

    private void requireNetwork(CommandLine command) {
        if (separateFolders && provider.choice().isOnly(OF_ONE_FOLDER)) {
            throw new ParameterException(
                    command,
                    "provider connects within one fabric folder only: option=--separate-folders,"
                            + " provider="
                            + OF_ONE_FOLDER
                            + ", expected=--provider roce, or no --separate-folders");
        }
    }

    private List<String> roleArguments() {
        List<String> arguments = new ArrayList<>(topology.arguments());
        arguments.addAll(List.of("--log-level", Logging.level().name()));
        arguments.addAll(List.of("--sdk-log-level", Logging.sdkLevel().name()));
        return arguments;
    }

    private int run(
            DemoSession session, DemoOptions options, DemoProgress progress, CommandLine command) {
        ResultHeader header = ResultHeader.now(Version.number());
        progress.begin(session.cpus());
        DemoResult result;
        try {
            result = session.run();
        } finally {
            progress.end();
        }
        if (session.interrupted()) {
            command.getErr()
                    .println(Errors.line(Status.CONNECTION_ABORTED, "User requested abort"));
            command.getErr().flush();
            return ExitCode.INTERRUPTED.code();
        }
        PrintWriter out = command.getOut();
        TextStyle style = Terminal.outputStyle();
        if (!json.isStandardOutput()) {
            DemoTable.lines(options, result, style).forEach(out::println);
        }
        json.write(DemoJson.of(options, session.cpus(), result, header), out);
        out.flush();
        ExitCode code = printErrors(result, command.getErr());
        if (!json.isStandardOutput()) {
            out.println(DemoTable.verdict(result, style));
            out.flush();
        }
        return code.code();
    }

    private static ExitCode printErrors(DemoResult result, PrintWriter err) {
        if (result.valid()) {
            return ExitCode.OK;
        }
        Optional<ChildOutcome> culprit = result.culprit();
        if (culprit.isEmpty()) {
            err.println(
                    Errors.line(
                            Status.IO_FAILED,
                            Text.format(
                                    "data is wrong: expectedSha256=%s, actualSha256=%s,"
                                            + " verifiedBytes=%d",
                                    result.expectedSha256(),
                                    result.actualSha256().orElse("none"),
                                    result.bytesVerified())));
            err.flush();
            return ExitCode.DATA_WRONG;
        }
        printFailure(result, culprit.get(), err);
        err.flush();
        int code = culprit.get().exitCode();
        return code == ExitCode.DATA_WRONG.code() ? ExitCode.DATA_WRONG : ExitCode.FAILED;
    }

    private static void printFailure(DemoResult result, ChildOutcome culprit, PrintWriter err) {
        err.println(
                Errors.line(
                        culprit.status(),
                        "demo failed: process=" + culprit.name() + ", " + culprit.howItEnded()));
        if (result.timedOut() != null) {
            err.println("  " + result.timedOut());
        }
        for (ChildOutcome outcome : result.outcomes()) {
            if (!outcome.ok()) {
                err.println("  " + outcome.name() + ": " + outcome.howItEnded());
                outcome.complaint().forEach(line -> err.println("    " + line));
            }
        }
    }

    private long sizeBytes(CommandLine command, int blockSizeBytes) {
        if (volume != null) {
            if (size != null) {
                throw new ParameterException(
                        command,
                        "a volume from a file has the file's size: options=[--volume, --size],"
                                + " expected=one of them");
            }
            return VolumeFile.sizeOf(volume, blockSizeBytes);
        }
        long sizeBytes = size == null ? SizeConverter.parse(DEFAULT_SIZE) : size;
        if (sizeBytes % blockSizeBytes != 0) {
            throw new ParameterException(
                    command,
                    "volume size is illegal: option=--size, sizeBytes="
                            + sizeBytes
                            + ", expected=a multiple of --block-size="
                            + blockSizeBytes);
        }
        return sizeBytes;
    }
}
