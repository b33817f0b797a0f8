package io.softdpu.cli;

import io.softdpu.cli.options.PaceConverter;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.sync.SyncMode;
import io.softdpu.perf.sync.SyncPlan;
import io.softdpu.perf.sync.SyncWait;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of a sync event measurement, for the command of the user and for its DPU process. */
final class SyncPlanOptions extends PlanOptions<SyncPlan> {
    @Parameters(
            paramLabel = "latency|rate",
            converter = SyncModeConverter.class,
            completionCandidates = SyncModeConverter.class,
            description = {
                "latency: round trips; the host sets a value, the DPU waits for it and sets the"
                        + " next, which the host waits for.",
                "rate: both processes add 1 to one event, as often as they can."
            })
    private @Nullable SyncMode mode;

    @Option(
            names = "--wait",
            paramLabel = "busy|yield|event",
            converter = SyncWaitConverter.class,
            completionCandidates = SyncWaitConverter.class,
            description = {
                "How both processes wait, with latency (default: busy).",
                "busy: a synchronous wait that spins. yield: one that yields the processor between"
                    + " two looks. event: a wait task, asleep on the event handle of its engine."
            })
    private @Nullable SyncWait wait;

    @Option(
            names = "--pace",
            paramLabel = "TIME",
            converter = PaceConverter.class,
            description =
                    "Begin one round trip per TIME, with latency: 1us to 60s, such as 2ms (default:"
                            + " each at the end of the one before). The warm-up has none.")
    private @Nullable Duration pace;

    @Option(
            names = "--cpu",
            paramLabel = "HOST,DPU|any",
            converter = PerfCpusConverter.class,
            defaultValue = PerfCpus.ANY,
            description =
                    "any leaves the threads to the scheduler (the default). HOST,DPU pins that of"
                            + " each process to a processor.")
    private @Nullable CpuPair cpus;

    @Override
    SyncPlan make(long nanos) {
        SyncMode measured = Objects.requireNonNull(mode, "required");
        return new SyncPlan(
                measured,
                measured == SyncMode.LATENCY && wait == null ? SyncWait.BUSY : wait,
                pace == null ? 0 : pace.toNanos(),
                nanos,
                Objects.requireNonNull(cpus, "has a default").pinned());
    }
}
