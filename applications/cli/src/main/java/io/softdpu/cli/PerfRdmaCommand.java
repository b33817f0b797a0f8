package io.softdpu.cli;

import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.rdma.RdmaDpu;
import io.softdpu.perf.rdma.RdmaFigures;
import io.softdpu.perf.rdma.RdmaForms;
import io.softdpu.perf.rdma.RdmaHost;
import io.softdpu.perf.rdma.RdmaPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code softdpu perf rdma}: measures RDMA between two processes. */
@Command(
        name = "rdma",
        description = {
            "Measures RDMA between two processes, host and DPU, over one connection: the host"
                    + " submits the operations.",
            "The latency of send, write and write-imm is that of a round trip: the DPU answers by"
                    + " the same operation. Neither side of a write is notified: both poll the last"
                    + " byte of their memory. The latency of read, fetch-add and cmp-swap is the"
                    + " time from submission to completion.",
            "rate and bandwidth measure every 64th operation, from 64KiB on each, from its"
                    + " submission to its completion, so a wait in the queue counts.",
            "Operations per second are round trips where the DPU answers; heap is what both"
                    + " processes allocate per operation; cores used are those of both. At the end"
                    + " the DPU has received what was sent, and fetch-add and cmp-swap have counted"
                    + " themselves.",
            "Rates are in GB/s, 10^9 bytes per second.",
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu perf rdma latency --op fetch-add",
            "  softdpu perf rdma latency --op write --size 8",
            "  softdpu perf rdma rate --op write --size 8 \\",
            "    --window 64 --wait busy --cpu 0,1",
            "  softdpu perf rdma bandwidth --op read --json -"
        })
final class PerfRdmaCommand extends MeasureCommand<RdmaPlan, RdmaFigures> {
    @Mixin private final RdmaPlanOptions options = new RdmaPlanOptions();

    PerfRdmaCommand() {
        super(new RdmaForms(), RdmaHost::new, RdmaDpu::new, "a smaller size or window");
    }

    @Override
    RdmaPlanOptions options() {
        return options;
    }
}
