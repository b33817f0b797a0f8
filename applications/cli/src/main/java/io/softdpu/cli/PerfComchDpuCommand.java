package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.comch.ComchDpu;
import io.softdpu.perf.comch.ComchPlan;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf comch}, which starts it. */
@Command(name = "comch-dpu")
final class PerfComchDpuCommand extends DpuCommand<ComchPlan> {
    @Mixin private final ComchPlanOptions options = new ComchPlanOptions();

    @Override
    ComchPlanOptions options() {
        return options;
    }

    @Override
    void serve(ComchPlan plan, ComchPair pair, Path fabric) {
        try (ComchDpu dpu = new ComchDpu(plan, pair, fabric)) {
            dpu.run();
        }
    }
}
