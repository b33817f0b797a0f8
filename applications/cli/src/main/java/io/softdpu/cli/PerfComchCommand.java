package io.softdpu.cli;

import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.comch.ComchDpu;
import io.softdpu.perf.comch.ComchFigures;
import io.softdpu.perf.comch.ComchForms;
import io.softdpu.perf.comch.ComchHost;
import io.softdpu.perf.comch.ComchPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
final class PerfComchCommand extends MeasureCommand<ComchPlan, ComchFigures> {
    @Mixin private final ComchPlanOptions options = new ComchPlanOptions();

    PerfComchCommand() {
        super(
                new ComchForms(),
                ComchHost::new,
                ComchDpu::new,
                "a smaller size, window or import, or fewer clients");
    }

    @Override
    ComchPlanOptions options() {
        return options;
    }
}
