package io.softdpu.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.cli.card.DeviceNames;
import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.log.Logging;
import io.softdpu.cli.options.CpuConverter;
import io.softdpu.cli.options.IntervalConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.process.ParentWatch;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.storage.StorageJson;
import io.softdpu.perf.storage.StorageTable;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.WaitMode;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.StorageInitiator;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Base of the commands of the three storage roles: the options for device and cores, and a session
 * from the open machine to the exit code.
 */
abstract class RoleCommand implements Callable<Integer> {
    private static final System.Logger LOG = System.getLogger("io.softdpu.cli.role");

    /** Default intervals between two lines of progress. */
    private static final Duration PER_TERMINAL = Duration.ofSeconds(1);

    private static final Duration PER_LOG = Duration.ofSeconds(10);

    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-d", "--device"},
            required = true,
            paramLabel = "DEVICE",
            completionCandidates = DeviceNames.class,
            description = "The device: PCI address, ibdev name or interface name.")
    private String device = "";

    @Option(
            names = "--cpu",
            required = true,
            split = ",(?!$)",
            splitSynopsisLabel = ",",
            paramLabel = "N|prefer:N|any",
            converter = CpuConverter.class,
            description = {
                "CPU affinity of the data path threads, one thread for each value: N pins it to a"
                        + " core, prefer:N pins it until other load needs the core, any leaves it"
                        + " to the scheduler.",
                "1 to 64 values, by several options or separated by commas. The initiator may have"
                        + " fewer than service and target, not more."
            })
    private List<CpuBinding> cpus = List.of();

    @Option(
            names = "--wait",
            paramLabel = "HOW",
            converter = WaitModeConverter.class,
            completionCandidates = WaitModeConverter.class,
            defaultValue = "adaptive",
            description = {
                "What a data path thread does without work: ${COMPLETION-CANDIDATES} (default:"
                        + " ${DEFAULT-VALUE}). adaptive polls for a while, then sleeps; busy polls"
                        + " without a pause, and uses a whole processor all the time."
            })
    private WaitMode waitMode = WaitMode.ADAPTIVE;

    @Option(
            names = "--progress",
            paramLabel = "SECONDS|off",
            converter = IntervalConverter.class,
            description = {
                "Interval between two lines of progress on standard error, while data moves"
                        + " (default: 1 on a terminal, where one line is rewritten, else 10)."
            })
    private @Nullable Duration progress;

    @Option(
            names = "--output-format",
            paramLabel = "FORMAT",
            converter = OutputFormatConverter.class,
            completionCandidates = OutputFormatConverter.class,
            defaultValue = "table",
            description = {
                "Form of the statistics at the end: ${COMPLETION-CANDIDATES} (default:"
                        + " ${DEFAULT-VALUE}). With json standard output has one object alone."
            })
    private OutputFormat outputFormat = OutputFormat.TABLE;

    @Option(
            names = {"-j", FlagFileArguments.OPTION},
            paramLabel = "FILE",
            description = {
                "Flags as JSON: an object with doca_general_flags (log-level, sdk-log-level) and"
                        + " doca_program_flags (the other long names), which are objects too. The"
                        + " command line takes precedence; a required flag may be in either."
            })
    @SuppressWarnings("UnusedVariable") // FlagFileArguments reads it before the other options
    private @Nullable Path flags;

    @Mixin private final TopologyOption topology = new TopologyOption();

    @Option(names = "--exit-with-parent", hidden = true)
    private boolean exitWithParent;

    @Option(names = "--parent-folder", hidden = true, paramLabel = "FOLDER")
    private @Nullable Path parentFolder;

    @Option(names = "--report", hidden = true, paramLabel = "FILE")
    private @Nullable Path report;

    /** The side on which this role runs. */
    abstract Side side();

    /** Checks the options that need no machine. */
    void checkOptions() {
        if (cpus.size() > StorageDefaults.MAX_WORKERS) {
            throw new ParameterException(
                    spec().commandLine(),
                    "too many cores: option=--cpu, cores="
                            + cpus.size()
                            + ", expected=1 to "
                            + StorageDefaults.MAX_WORKERS);
        }
    }

    /**
     * Opens the role. A missing resource is a {@link DpuException}.
     *
     * @param steps gets the steps of the session
     */
    abstract StorageRole open(Machine machine, PeerWait steps);

    /** Makes the options of the network those of this process, until they are closed. */
    NetworkOptions.Use useNetwork() {
        return NetworkOptions.Use.NONE;
    }

    /** The provider with the options of its network; illegal ones are refused as by picocli. */
    final ProviderChoice networkOf(ProviderOption provider, NetworkOptions network) {
        try {
            return network.with(provider.choice());
        } catch (DpuException refused) {
            throw new ParameterException(
                    spec().commandLine(), String.valueOf(refused.getMessage()), refused);
        }
    }

    /** The next step of the user after a failure in a step; null if the error says all. */
    abstract @Nullable String nextStep(
            @Nullable SessionStep step, DpuException failure, Topology card);

    @Override
    public final Integer call() {
        checkOptions();
        ResultHeader header = ResultHeader.now(Version.number());
        CommandSpec command = spec();
        PrintWriter out = command.commandLine().getOut();
        PrintWriter err = command.commandLine().getErr();
        InputStream parent = exitWithParent ? System.in : null;
        Runnable tellUse = () -> out.println(ResourceUse.now());
        try (AbortWatch watch = AbortWatch.watch(parent, tellUse, err);
                ParentWatch _ = watchParent()) {
            ExitCode code = ExitCode.OK;
            Topology card = null;
            try (PeerWait steps = new PeerWait();
                    NetworkOptions.Use _ = useNetwork()) {
                card = topology.load();
                try (Machine machine = Machine.builder(side()).topology(card).open();
                        StorageRole role = openHere(machine, steps)) {
                    watch.attach(role);
                    showProgress(role, steps);
                    code = runSession(role, steps, card, header, out, err);
                }
            } catch (DpuException e) {
                ExitCode ofFailure = report(e, null, card, err);
                // The cause of the end matters more than a failure of the clean-up after it.
                code = code == ExitCode.OK ? ofFailure : code;
            }
            return code.code();
        }
    }

    /**
     * Interval between two lines of progress, or null for none: a parent shows the progress of its
     * children itself.
     */
    final @Nullable Duration progressInterval(boolean isTerminal) {
        Duration interval =
                Objects.requireNonNullElse(progress, isTerminal ? PER_TERMINAL : PER_LOG);
        return exitWithParent || interval.isZero() ? null : interval;
    }

    private void showProgress(StorageRole role, PeerWait steps) {
        boolean isTerminal = Terminal.isStandardError();
        Duration interval = progressInterval(isTerminal);
        if (interval != null && Logging.showsSteps()) {
            steps.showProgress(
                    new DataPathProgress(
                            role::report,
                            role instanceof StorageInitiator initiator
                                    ? initiator::latencyCounts
                                    : null,
                            interval,
                            isTerminal ? System.err : null));
        }
    }

    /** Before anything is written into the folder of the parent; null without one. */
    private @Nullable ParentWatch watchParent() {
        return parentFolder == null ? null : ParentWatch.start(parentFolder);
    }

    /**
     * Checks the cores here, since the data path threads, which are pinned, start with the first
     * peer.
     */
    private StorageRole openHere(Machine machine, PeerWait steps) {
        cpus.forEach(CpuBinding::checkAvailable);
        warnOfSharedProcessors();
        return open(machine, steps);
    }

    /** Threads that poll take each other's time, but all of them do their work. */
    private void warnOfSharedProcessors() {
        Set<Integer> seen = new HashSet<>();
        Set<Integer> shared = new TreeSet<>();
        for (CpuBinding cpu : cpus) {
            if (cpu.isBound() && !seen.add(cpu.processor())) {
                shared.add(cpu.processor());
            }
        }
        if (!shared.isEmpty()) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "several data path threads poll on one processor: option=--cpu, processors="
                            + shared
                            + ", cpus="
                            + cpus
                            + ", expected=a processor for each thread, or any");
        }
    }

    /** Prints an error, for a user with the next step. */
    private ExitCode report(
            DpuException failure,
            @Nullable SessionStep step,
            @Nullable Topology card,
            PrintWriter err) {
        if (exitWithParent) { // the parent has started all roles, and reports what failed
            return Errors.report(failure, null, err);
        }
        String next = card == null ? null : nextStep(step, failure, card);
        return next == null ? Errors.report(failure, err) : Errors.report(failure, next, err);
    }

    private ExitCode runSession(
            StorageRole role,
            PeerWait steps,
            Topology card,
            ResultHeader header,
            PrintWriter out,
            PrintWriter err) {
        ExitCode code = ExitCode.OK;
        try {
            role.run();
        } catch (DpuException e) {
            steps.close();
            code = report(e, steps.lastStep(), card, err);
        }
        @Nullable InitiatorReport run =
                role instanceof StorageInitiator initiator ? initiator.initiatorReport() : null;
        printStatistics(role.report(), run, code != ExitCode.OK, card, header, out);
        if (exitWithParent) {
            out.println(ResourceUse.now()); // for a request that arrives too late
        }
        if (report != null) {
            write(ChildReport.of(role.report(), run), report);
        }
        return code;
    }

    private void printStatistics(
            SessionReport session,
            @Nullable InitiatorReport run,
            boolean failed,
            Topology card,
            ResultHeader header,
            PrintWriter out) {
        if (outputFormat == OutputFormat.JSON) {
            out.println(StorageJson.of(session, run, options(card), header).toPrettyString());
            return;
        }
        if (run != null) {
            StorageTable.lines(run, failed).forEach(out::println);
        }
        if (!failed || !session.workers().isEmpty()) { // else it failed before it had any
            StorageTable.lines(session).forEach(out::println);
            lineOnIdleCores(session).ifPresent(out::println);
        }
    }

    /** Cores that have no thread and no row, since the initiator has fewer. */
    private Optional<String> lineOnIdleCores(SessionReport session) {
        int used = session.workers().size();
        return used == 0 || used >= cpus.size()
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%s: no work for %s of --cpu, since the initiator has %d",
                                session.role(), cpus.subList(used, cpus.size()), used));
    }

    /** The options that a user may give, with their values. */
    private ObjectNode options(Topology card) {
        ObjectNode options = JsonNodeFactory.instance.objectNode();
        for (OptionSpec option : spec().options()) {
            Object value = option.getValue();
            if (option.hidden() || !isOfRole(option)) {
                continue;
            }
            String key = option.longestName().substring("--".length()).replace('-', '_');
            switch (value) {
                case null -> options.putNull(key);
                case Number number -> options.put(key, number.longValue());
                case Duration time -> options.put(key, time.toNanos() / 1e9);
                case List<?> values -> {
                    ArrayNode array = options.putArray(key);
                    values.forEach(each -> array.add(String.valueOf(each)));
                }
                case InetAddress address -> options.put(key, address.getHostAddress());
                case WaitMode mode -> options.put(key, mode.optionName());
                case OutputFormat format -> options.put(key, format.optionName());
                default -> options.put(key, value.toString());
            }
        }
        return options.put("topology", card.name());
    }

    /** Whether an option belongs to this role, not to all commands as help and log levels do. */
    private static boolean isOfRole(OptionSpec option) {
        return !option.inherited() && !option.usageHelp() && !option.versionHelp();
    }

    /** Output for the line that says that the role is ready; with JSON it is standard error. */
    final PrintWriter readyOutput() {
        CommandLine command = spec().commandLine();
        return outputFormat == OutputFormat.JSON ? command.getErr() : command.getOut();
    }

    private static void write(ChildReport report, Path file) {
        try {
            report.write(file);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED,
                    "report cannot be written: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    /** The options of another role's command for the same card. */
    final String topologyArguments() {
        return topology.arguments().stream().map(word -> " " + word).collect(Collectors.joining());
    }

    final String device() {
        return device;
    }

    final CommandSpec spec() {
        if (spec == null) {
            throw new IllegalStateException("picocli has not made this command");
        }
        return spec;
    }

    /** Wait mode of the data path threads. */
    final WaitMode waitMode() {
        return waitMode;
    }

    /** The CPU affinity of each data path thread. */
    final List<CpuBinding> cpus() {
        return cpus;
    }
}
