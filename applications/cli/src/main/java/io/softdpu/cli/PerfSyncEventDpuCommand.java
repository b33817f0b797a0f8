package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.SharedFolder;
import io.softdpu.perf.pair.TwoProcesses;
import io.softdpu.perf.sync.SyncDpu;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The DPU process of {@code softdpu perf sync-event}, which starts it. */
@Command(name = "sync-event-dpu", hidden = true, description = "The side of the DPU.")
final class PerfSyncEventDpuCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private final SyncPlanOptions options = new SyncPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();

    @Option(names = "--parent-folder", required = true, paramLabel = "FOLDER")
    private @Nullable Path parentFolder;

    @Override
    public Integer call() {
        Path shared = Objects.requireNonNull(parentFolder);
        try (SharedFolder _ = SharedFolder.join(shared);
                SyncDpu dpu =
                        new SyncDpu(
                                options.plan(Objects.requireNonNull(spec).commandLine()),
                                ComchPair.of(topology.load()),
                                shared.resolve(TwoProcesses.FABRIC))) {
            dpu.run(System.in, System.out);
        }
        return ExitCode.OK.code();
    }
}
