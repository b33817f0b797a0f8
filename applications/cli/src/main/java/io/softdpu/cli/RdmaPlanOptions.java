package io.softdpu.cli;

import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.rdma.RdmaMode;
import io.softdpu.perf.rdma.RdmaOperation;
import io.softdpu.perf.rdma.RdmaPlan;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of an RDMA measurement, for the command of the user and for its DPU process. */
final class RdmaPlanOptions extends PlanOptions<RdmaPlan> {
    @Parameters(
            paramLabel = "latency|rate|bandwidth",
            converter = RdmaModeConverter.class,
            completionCandidates = RdmaModeConverter.class,
            description = {
                "latency: one operation at a time.",
                "rate: small operations, as many in flight as --window says.",
                "bandwidth: the same with large operations; not with fetch-add and cmp-swap."
            })
    private @Nullable RdmaMode mode;

    @Option(
            names = "--op",
            required = true,
            paramLabel = "OP",
            converter = RdmaOperationConverter.class,
            completionCandidates = RdmaOperationConverter.class,
            description = {
                "The operation: write, read, send, write-imm, fetch-add or cmp-swap.",
                "write and read: of the memory of the DPU. send: to a receive of the DPU."
                        + " write-imm: a write that completes a receive of the DPU. fetch-add and"
                        + " cmp-swap: of the same eight bytes of the DPU each time."
            })
    private @Nullable RdmaOperation operation;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Size of an operation, 1 to 2GiB, 8 of fetch-add and cmp-swap (default: latency"
                            + " 64, rate 32, bandwidth 1MiB).")
    private @Nullable Long size;

    @Option(
            names = "--wait",
            paramLabel = "busy|adaptive|event",
            converter = PerfWaitConverter.class,
            completionCandidates = PerfWaitConverter.class,
            description = {
                "How both processes wait (default: adaptive, with latency --op write busy, the only"
                        + " way that there is).",
                "busy: always poll, by progress(). adaptive: poll for a while, then sleep, by"
                        + " await(). event: sleep at once, by requestNotification()."
            })
    private @Nullable PerfWait wait;

    @Option(
            names = "--window",
            paramLabel = "N",
            description = {
                "Operations in flight, 1 to 8192, each with memory of its own, with rate and"
                    + " bandwidth (default: 64; of large operations as many as fill 64MiB, at least"
                    + " 2, from 256MiB on 1). The memory of both processes may have 8GiB."
            })
    private @Nullable Integer window;

    @Option(
            names = "--cpu",
            paramLabel = "HOST,DPU|any",
            converter = PerfCpusConverter.class,
            defaultValue = PerfCpus.ANY,
            description =
                    "any leaves the threads to the scheduler (the default). HOST,DPU pins that of"
                            + " each process to a processor, and measures the round trip of a cache"
                            + " line between these before and after, as perf comch does.")
    private @Nullable CpuPair cpus;

    @Mixin private final ProviderOption provider = new ProviderOption();
    @Mixin private final NetworkOptions network = new NetworkOptions();

    @Override
    NetworkOptions.Use use(RdmaPlan plan, boolean isDpu) {
        return NetworkOptions.use(plan.provider(), !isDpu); // the host's has both directions
    }

    @Override
    RdmaPlan make(long nanos) {
        return RdmaPlan.of(
                Objects.requireNonNull(mode, "required"),
                Objects.requireNonNull(operation, "required"),
                size,
                wait,
                nanos,
                window,
                Objects.requireNonNull(cpus, "has a default").pinned(),
                network.with(provider.choice()));
    }
}
