package io.softdpu.cli;

import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.core.DpuException;
import io.softdpu.perf.comch.PerfMode;
import io.softdpu.perf.comch.PerfPlan;
import io.softdpu.perf.comch.PerfWait;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Options of a Comm Channel measurement, for the command of the user and for its DPU process. */
final class PerfPlanOptions {
    @Parameters(
            paramLabel = "latency|rate|bandwidth",
            converter = PerfModeConverter.class,
            description = {
                "latency: round trips of one message at a time.",
                "rate: small messages one way, as many as the queues take.",
                "bandwidth: the same with large messages."
            })
    private @Nullable PerfMode mode;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Size of a message, 1 to 64MiB (default: latency 64, rate 32, bandwidth"
                            + " 1MiB).")
    private @Nullable Long size;

    @Option(
            names = "--wait",
            paramLabel = "busy|adaptive|event",
            converter = PerfWaitConverter.class,
            defaultValue = "adaptive",
            description = {
                "How both processes wait (default: ${DEFAULT-VALUE}).",
                "busy: always poll. adaptive: poll for a while, then sleep. event: sleep at once."
            })
    private @Nullable PerfWait wait;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "2",
            description =
                    "Duration of the measurement, and of the warm-up before it (default:"
                            + " ${DEFAULT-VALUE}).")
    private @Nullable Duration seconds;

    /** The plan; values that make none are refused as picocli refuses those of a wrong form. */
    PerfPlan plan(CommandLine command) {
        PerfMode measured = Objects.requireNonNull(mode, "required");
        try {
            return new PerfPlan(
                    measured,
                    size == null ? measured.defaultSizeBytes() : size,
                    Objects.requireNonNull(wait, "has a default"),
                    Objects.requireNonNull(seconds, "has a default").toNanos());
        } catch (DpuException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        }
    }

    /** The arguments that these options are read from. */
    static List<String> arguments(PerfPlan plan) {
        return List.of(
                plan.mode().word(),
                "--size",
                Long.toString(plan.sizeBytes()),
                "--wait",
                plan.waiting().word());
    }
}
