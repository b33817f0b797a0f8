package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.comch.ComchDpu;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf comch}, which starts it. */
@Command(name = "comch-dpu")
final class PerfComchDpuCommand extends DpuCommand {
    @Mixin private final ComchPlanOptions options = new ComchPlanOptions();

    @Override
    void serve(CommandLine command, ComchPair pair, Path fabric) {
        try (ComchDpu dpu = new ComchDpu(options.plan(command), pair, fabric)) {
            dpu.run();
        }
    }
}
