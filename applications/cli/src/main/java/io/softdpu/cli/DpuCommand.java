package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.core.process.ParentWatch;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfPlan;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The DPU process of a measurement, which starts it. It ends with its parent.
 *
 * @param <P> the plan
 */
@Command(hidden = true, description = "The side of the DPU.")
abstract class DpuCommand<P extends PerfPlan> implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private final TopologyOption topology = new TopologyOption();

    @Option(names = "--parent-folder", required = true, paramLabel = "FOLDER")
    private @Nullable Path parentFolder;

    @Override
    public final Integer call() {
        Path shared = Objects.requireNonNull(parentFolder);
        try (ParentWatch _ = ParentWatch.start(shared)) {
            serve(
                    options().plan(Objects.requireNonNull(spec).commandLine()),
                    ComchPair.of(topology.load()),
                    SharedFolder.fabricOf(shared));
        }
        return ExitCode.OK.code();
    }

    /** The options of the plan: those of the host's command. */
    abstract PlanOptions<P> options();

    /**
     * Serves the host until it has gone.
     *
     * @param pair the devices of both sides
     * @param fabric the folder of the fabric
     */
    abstract void serve(P plan, ComchPair pair, Path fabric);
}
