package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.comch.PerfDpu;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf comch}, which starts it. */
@Command(name = "comch-dpu")
final class PerfDpuCommand extends DpuCommand {
    @Mixin private final PerfPlanOptions options = new PerfPlanOptions();

    @Override
    void serve(CommandLine command, ComchPair pair, Path fabric) {
        try (PerfDpu dpu = new PerfDpu(options.plan(command), pair, fabric)) {
            dpu.run();
        }
    }
}
