package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.rdma.RdmaDpu;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf rdma}, which starts it. */
@Command(name = "rdma-dpu")
final class PerfRdmaDpuCommand extends DpuCommand {
    @Mixin private final RdmaPlanOptions options = new RdmaPlanOptions();

    @Override
    void serve(CommandLine command, ComchPair pair, Path fabric) {
        try (RdmaDpu dpu = new RdmaDpu(options.plan(command), pair, fabric)) {
            dpu.run(System.in, System.out);
        }
    }
}
