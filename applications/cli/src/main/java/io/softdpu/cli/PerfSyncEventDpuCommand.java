package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.sync.SyncDpu;
import io.softdpu.perf.sync.SyncPlan;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf sync-event}, which starts it. */
@Command(name = "sync-event-dpu")
final class PerfSyncEventDpuCommand extends DpuCommand<SyncPlan> {
    @Mixin private final SyncPlanOptions options = new SyncPlanOptions();

    @Override
    SyncPlanOptions options() {
        return options;
    }

    @Override
    void serve(SyncPlan plan, ComchPair pair, Path fabric) {
        try (SyncDpu dpu = new SyncDpu(plan, pair, fabric)) {
            dpu.run(System.in, System.out);
        }
    }
}
