package io.softdpu.cli;

import io.softdpu.perf.sync.SyncAdds;
import io.softdpu.perf.sync.SyncDpu;
import io.softdpu.perf.sync.SyncForms;
import io.softdpu.perf.sync.SyncHost;
import io.softdpu.perf.sync.SyncPlan;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code softdpu perf sync-event}: measures a sync event between two processes. */
@Command(
        name = "sync-event",
        description = {
            "Measures a sync event between two processes, host and DPU: the host has the CPU"
                    + " handle, the DPU a handle from its export.",
            "With latency the time is that of a round trip, both processes' waits included; heap"
                    + " is what both allocate per round trip, with rate per addition; cores used"
                    + " are those of both.",
            "With rate the value at the end is checked: it is the sum of the additions."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu perf sync-event latency",
            "  softdpu perf sync-event latency --wait event \\",
            "    --pace 2ms",
            "  softdpu perf sync-event latency --cpu 0,1 --json -",
            "  softdpu perf sync-event rate"
        })
final class PerfSyncEventCommand extends MeasureCommand<SyncPlan, Optional<SyncAdds>> {
    @Mixin private final SyncPlanOptions options = new SyncPlanOptions();

    PerfSyncEventCommand() {
        super(new SyncForms(), SyncHost::new, SyncDpu::new, null);
    }

    @Override
    SyncPlanOptions options() {
        return options;
    }
}
