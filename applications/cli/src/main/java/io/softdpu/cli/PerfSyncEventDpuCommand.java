package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.sync.SyncDpu;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf sync-event}, which starts it. */
@Command(name = "sync-event-dpu")
final class PerfSyncEventDpuCommand extends DpuCommand {
    @Mixin private final SyncPlanOptions options = new SyncPlanOptions();

    @Override
    void serve(CommandLine command, ComchPair pair, Path fabric) {
        try (SyncDpu dpu = new SyncDpu(options.plan(command), pair, fabric)) {
            dpu.run(System.in, System.out);
        }
    }
}
