package io.softdpu.cli;

import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.block.BlockLoad;
import io.softdpu.perf.block.BlockMode;
import io.softdpu.perf.block.BlockPlan;
import io.softdpu.perf.pair.PerfWait;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of a measurement of a block device. */
final class BlockPlanOptions extends PlanOptions<BlockPlan> {
    @Parameters(
            paramLabel = "rate|latency|bandwidth",
            converter = BlockModeConverter.class,
            completionCandidates = BlockModeConverter.class,
            description = {
                "rate: small operations, as many in flight as --depth says.",
                "latency: one operation at a time.",
                "bandwidth: large operations; not with flush."
            })
    private @Nullable BlockMode mode;

    @Option(
            names = "--volume",
            required = true,
            paramLabel = "URI",
            description =
                    "The block device, such as memory:64MiB or null:1GiB; a wrong word before the"
                            + " colon names all that there are.")
    private @Nullable String volume;

    @Option(
            names = "--op",
            required = true,
            paramLabel = "read|write|flush",
            converter = BlockLoadConverter.class,
            completionCandidates = BlockLoadConverter.class,
            description = "The operation.")
    private @Nullable BlockLoad load;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Size of a read or write, a multiple of 512 up to 1GiB (default: 4KiB, with"
                            + " bandwidth 1MiB). The volume has blocks of 4KiB, or of less if the"
                            + " size needs it.")
    private @Nullable Long size;

    @Option(
            names = "--depth",
            paramLabel = "N",
            description =
                    "Operations in flight of each thread, 1 to 8192, each with memory of its own"
                            + " (default: rate 32, bandwidth 8, latency 1).")
    private @Nullable Integer depth;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Threads, 1 to 64, each with an engine and a context (default:"
                            + " ${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = "--random",
            description = "Random offsets; otherwise each operation is behind the one before.")
    private boolean random;

    @Option(names = "--fua", description = "Each write is durable when it completes.")
    private boolean fua;

    @Option(
            names = "--overwrite",
            description =
                    "Write to a volume that is there already; otherwise writes need a URI with"
                            + " create=SIZE.")
    private boolean overwrite;

    @Option(
            names = "--wait",
            paramLabel = "busy|adaptive|event",
            converter = PerfWaitConverter.class,
            completionCandidates = PerfWaitConverter.class,
            description =
                    "How the thread waits: busy polls, adaptive polls for a while and then sleeps"
                            + " (the default), event sleeps at once.")
    private @Nullable PerfWait wait;

    @Override
    BlockPlan make(long nanos) {
        return BlockPlan.of(
                Objects.requireNonNull(mode, "required"),
                Objects.requireNonNull(volume, "required"),
                Objects.requireNonNull(load, "required"),
                size,
                depth,
                threads,
                random,
                fua,
                overwrite,
                wait,
                nanos);
    }
}
