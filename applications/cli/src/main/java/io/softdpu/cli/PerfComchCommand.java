package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.doctor.DescriptorLimit;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.comch.ComchFigures;
import io.softdpu.perf.comch.ComchForms;
import io.softdpu.perf.comch.ComchPlan;
import io.softdpu.perf.comch.ComchSession;
import io.softdpu.perf.pair.PerfResult;
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

/** {@code softdpu perf comch}: measures the Comm Channel between two processes. */
@Command(
        name = "comch",
        description = {
            "Measures the Comm Channel between two processes, host and DPU: the fast path from"
                    + " producer to consumer, and the basic path (control).",
            "The modes latency and control measure round trips. The other modes measure every 64th"
                + " message, from 64KiB on each, from its submission until the DPU has received it,"
                + " so a wait in the queue counts; messages below 8 bytes have no latency.",
            "With latency and control the rate of messages is that of round trips; heap is what"
                + " both processes allocate per message; cores used are those of both processes.",
            "With idle the resident memory of a connection is that of both processes with all"
                    + " connections, less that without any, by their number: proportional set size"
                    + " (Pss) of /proc/self/smaps_rollup after a garbage collection. Cores used are"
                    + " those while both sleep, with --import those of the imports as well. --wait"
                    + " is that of the host while it connects, and --cpu times no cache line.",
            "Rates are in GB/s, 10^9 bytes per second.",
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu perf comch latency --size 64 --wait busy",
            "  softdpu perf comch rate --window 64 \\",
            "    --producers 4 --repeat 5",
            "  softdpu perf comch bandwidth --size 1GiB --json -",
            "  softdpu perf comch rate --wait busy --cpu 0,1",
            "  softdpu perf comch bandwidth --stream",
            "  softdpu perf comch control --size 64",
            "  softdpu perf comch idle --clients 256 --import 1GiB"
        })
final class PerfComchCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable PerfCommand parent;
    @Mixin private final ComchPlanOptions options = new ComchPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        ComchPlan plan = options.plan(command);
        json.check(command);
        List<String> own = Objects.requireNonNull(parent).arguments();
        List<String> dpu = new ArrayList<>(List.of("perf", "comch-dpu"));
        dpu.addAll(ComchPlanOptions.arguments(plan));
        dpu.addAll(topology.arguments());
        ComchPair pair = ComchPair.of(topology.load());
        NeededMemory.require(
                "measurement=" + plan.mode().word(),
                plan.neededBytes(),
                "a smaller size, window or import, or fewer clients");
        DescriptorLimit.require("perf comch", DescriptorLimit.OF_PAIR + plan.furtherDescriptors());
        ComchSession session = new ComchSession(plan, pair, JvmCommand.ofThisProcess(own), dpu);
        ComchForms forms = new ComchForms();
        return new PerfRun<PerfResult<ComchPlan, ComchFigures>>(
                        forms::lines,
                        (result, header) -> forms.json(result, header, pair.topology().name()))
                .measure(session, json, command);
    }
}
