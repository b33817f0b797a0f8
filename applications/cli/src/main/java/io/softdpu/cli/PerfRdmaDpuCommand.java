package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.rdma.RdmaDpu;
import io.softdpu.perf.rdma.RdmaPlan;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf rdma}, which starts it. */
@Command(name = "rdma-dpu")
final class PerfRdmaDpuCommand extends DpuCommand<RdmaPlan> {
    @Mixin private final RdmaPlanOptions options = new RdmaPlanOptions();

    @Override
    RdmaPlanOptions options() {
        return options;
    }

    @Override
    void serve(RdmaPlan plan, ComchPair pair, Path fabric) {
        try (RdmaDpu dpu = new RdmaDpu(plan, pair, fabric)) {
            dpu.run(System.in, System.out);
        }
    }
}
