package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.doctor.DescriptorLimit;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.sync.SyncAdds;
import io.softdpu.perf.sync.SyncForms;
import io.softdpu.perf.sync.SyncPlan;
import io.softdpu.perf.sync.SyncSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

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
final class PerfSyncEventCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable PerfCommand parent;
    @Mixin private final SyncPlanOptions options = new SyncPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        SyncPlan plan = options.plan(command);
        json.check(command);
        List<String> own = Objects.requireNonNull(parent).arguments();
        List<String> dpu = new ArrayList<>(List.of("perf", "sync-event-dpu"));
        dpu.addAll(SyncPlanOptions.arguments(plan));
        dpu.addAll(topology.arguments());
        ComchPair pair = ComchPair.of(topology.load());
        DescriptorLimit.require("perf sync-event", DescriptorLimit.OF_PAIR);
        SyncSession session = new SyncSession(plan, pair, JvmCommand.ofThisProcess(own), dpu);
        SyncForms forms = new SyncForms();
        return new PerfRun<PerfResult<SyncPlan, Optional<SyncAdds>>>(
                        forms::lines,
                        (result, header) -> forms.json(result, header, pair.topology().name()))
                .measure(session, json, command);
    }
}
