package io.softdpu.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.doctor.DescriptorLimit;
import io.softdpu.core.process.ParentWatch;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.DpuSide;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.PerfForms;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.TwoProcesses;
import io.softdpu.perf.result.ResultHeader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * One kind of measurement between two processes: the host's, which the user starts, and the DPU's,
 * which that one starts by the same command with the same options of the plan, and a folder of
 * theirs.
 *
 * @param <P> the plan
 * @param <X> what only the runs of this kind of measurement have
 */
abstract class MeasureCommand<P extends PerfPlan, X> implements Callable<Integer> {
    private final PerfForms<P, X> forms;
    private final HostSide.Opener<P, X> host;
    private final DpuSide.Opener<P> dpu;
    private final @Nullable String remedy;

    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable PerfCommand parent;
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final JsonOption json = new JsonOption();

    @Option(names = "--parent-folder", hidden = true, paramLabel = "FOLDER")
    private @Nullable Path parentFolder;

    /** For a DPU in another network namespace: it becomes the JVM, so that the pid is the same. */
    @Option(
            names = "--dpu-prefix",
            hidden = true,
            paramLabel = "WORDS",
            split = " ",
            description = "Words before the command of the DPU's process.")
    private List<String> dpuPrefix = List.of();

    /**
     * A kind of measurement.
     *
     * @param forms of its results
     * @param host opens the side of the process that the user starts
     * @param dpu opens the side of the process that it starts
     * @param remedy what needs less memory, for the error where there is not enough; null if it
     *     needs none that is worth a check
     */
    MeasureCommand(
            PerfForms<P, X> forms,
            HostSide.Opener<P, X> host,
            DpuSide.Opener<P> dpu,
            @Nullable String remedy) {
        this.forms = forms;
        this.host = host;
        this.dpu = dpu;
        this.remedy = remedy;
    }

    /** The options of the plan: the mixin {@code options}. */
    abstract PlanOptions<P> options();

    @Override
    public final Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        P plan = options().plan(command);
        if (parentFolder != null) {
            serve(plan, parentFolder);
            return ExitCode.OK.code();
        }
        json.check(command);
        List<String> own = Objects.requireNonNull(parent).arguments();
        List<String> ofDpu = new ArrayList<>(List.of("perf", command.getCommandName()));
        ofDpu.addAll(given(command.getParseResult()));
        ofDpu.addAll(topology.arguments());
        ComchPair pair = ComchPair.of(topology.load());
        if (remedy != null) {
            NeededMemory.require("measurement=" + plan.mode().word(), plan.neededBytes(), remedy);
        }
        DescriptorLimit.require(
                "perf " + command.getCommandName(),
                DescriptorLimit.OF_PAIR + plan.furtherDescriptors());
        return measure(
                plan,
                new TwoProcesses<>(
                        plan, pair, host, JvmCommand.ofThisProcess(own).behind(dpuPrefix), ofDpu),
                pair,
                command);
    }

    /** Serves the host until it has gone. The process ends with its parent. */
    private void serve(P plan, Path shared) {
        try (ParentWatch _ = ParentWatch.start(shared);
                NetworkOptions.Use _ = options().use(plan, true);
                DpuSide side =
                        dpu.open(
                                plan,
                                ComchPair.of(topology.load()),
                                SharedFolder.fabricOf(shared))) {
            side.run(System.in, System.out);
        }
    }

    /** The words for the plan as they were given: the DPU process makes the same one of them. */
    private List<String> given(ParseResult parsed) {
        CommandSpec ofPlan =
                Objects.requireNonNull(Objects.requireNonNull(spec).mixins().get("options"));
        List<String> given = new ArrayList<>();
        for (PositionalParamSpec word : parsed.matchedPositionals()) {
            given.add(word.originalStringValues().getLast());
        }
        for (OptionSpec option : parsed.matchedOptions()) {
            if (ofPlan.findOption(option.longestName()) != null) {
                if (option.arity().max() > 0) {
                    given.add(option.longestName());
                    given.add(option.originalStringValues().getLast());
                } else { // a flag has no word, but may be given with a value, which may be false
                    given.add(option.longestName() + "=" + option.getValue());
                }
            }
        }
        return given;
    }

    /** Measures, and prints the result as {@code --json} says; a signal ends it. */
    private int measure(P plan, TwoProcesses<P, X> session, ComchPair pair, CommandLine command) {
        ResultHeader header = ResultHeader.now(Version.number());
        try (SignalGuard _ = SignalGuard.on(session::interrupt)) {
            try (NetworkOptions.Use _ = options().use(plan, false)) {
                PerfResult<P, X> result = session.run();
                JsonNode made = forms.json(result, header, pair.topology().name());
                if (!json.isStandardOutput()) {
                    forms.lines(result, Terminal.outputStyle()).forEach(command.getOut()::println);
                }
                json.write(made, command.getOut());
                return ExitCode.OK.code();
            } catch (RuntimeException e) {
                // Here and not by picocli: after a signal the exit code does not come from picocli.
                return Errors.report(e, command.getErr()).code();
            }
        }
    }
}
