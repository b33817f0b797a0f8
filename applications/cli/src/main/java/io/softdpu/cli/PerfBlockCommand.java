package io.softdpu.cli;

import io.softdpu.block.property.BlockUriException;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.block.BlockFigures;
import io.softdpu.perf.block.BlockForms;
import io.softdpu.perf.block.BlockMeasurement;
import io.softdpu.perf.block.BlockPlan;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.result.ResultHeader;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softdpu perf block}: measures a block device. */
@Command(
        name = "block",
        description = {
            "Measures a block device in one process: each thread keeps reads, writes or flushes of"
                    + " a context in flight.",
            "The latency is the time from submission to completion; CPU and heap are what the"
                    + " process has used per operation."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu perf block rate --volume memory:64MiB \\",
            "    --op read --random",
            "  softdpu perf block latency --volume memory:64MiB \\",
            "    --op write --fua --overwrite",
            "  softdpu perf block rate --volume null:1GiB \\",
            "    --op read --wait busy --json -"
        })
final class PerfBlockCommand implements Callable<Integer> {
    private static final String REMEDY = "a smaller --size, --depth or --threads";

    @Spec private @Nullable CommandSpec spec;
    @Mixin private final BlockPlanOptions options = new BlockPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        BlockPlan plan = options.plan(command);
        json.check(command);
        ComchPair pair = ComchPair.of(topology.load());
        NeededMemory.require("measurement=" + plan.mode().word(), plan.neededBytes(), REMEDY);
        return measure(plan, pair, command);
    }

    /** Measures, and prints the result as {@code --json} says; a signal ends it. */
    private int measure(BlockPlan plan, ComchPair pair, CommandLine command) {
        BlockForms forms = new BlockForms();
        BlockMeasurement measurement = new BlockMeasurement(plan, pair);
        ResultHeader header = ResultHeader.now(Version.number());
        try (SignalGuard _ = SignalGuard.on(measurement::interrupt)) {
            try {
                PerfResult<BlockPlan, BlockFigures> result = measurement.run();
                if (!json.isStandardOutput()) {
                    forms.lines(result, Terminal.outputStyle()).forEach(command.getOut()::println);
                }
                json.write(forms.json(result, header, pair.topology().name()), command.getOut());
                return ExitCode.OK.code();
            } catch (BlockUriException e) {
                throw new ParameterException(
                        command, UsageMessage.ofOption("--volume", Reason.of(e)), e);
            } catch (DpuException e) {
                if (e.status() == Status.INVALID_VALUE) { // a size that the volume lacks
                    throw new ParameterException(command, Reason.of(e), e);
                }
                return Errors.report(e, command.getErr()).code();
            }
        }
    }
}
