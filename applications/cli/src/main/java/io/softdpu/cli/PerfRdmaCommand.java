package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.doctor.DescriptorLimit;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.rdma.RdmaFigures;
import io.softdpu.perf.rdma.RdmaForms;
import io.softdpu.perf.rdma.RdmaPlan;
import io.softdpu.perf.rdma.RdmaSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

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
final class PerfRdmaCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable PerfCommand parent;
    @Mixin private final RdmaPlanOptions options = new RdmaPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        RdmaPlan plan = options.plan(command);
        json.check(command);
        List<String> own = Objects.requireNonNull(parent).arguments();
        List<String> dpu = new ArrayList<>(List.of("perf", "rdma-dpu"));
        dpu.addAll(RdmaPlanOptions.arguments(plan));
        dpu.addAll(topology.arguments());
        ComchPair pair = ComchPair.of(topology.load());
        NeededMemory.require(
                "measurement=" + plan.mode().word(),
                plan.neededBytes(),
                "a smaller size or window");
        DescriptorLimit.require("perf rdma", DescriptorLimit.OF_PAIR);
        RdmaSession session = new RdmaSession(plan, pair, JvmCommand.ofThisProcess(own), dpu);
        RdmaForms forms = new RdmaForms();
        return new PerfRun<PerfResult<RdmaPlan, RdmaFigures>>(
                        forms::lines,
                        (result, header) -> forms.json(result, header, pair.topology().name()))
                .measure(session, json, command);
    }
}
